#include "cli/security_commands.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/audit_command.h"
#include "cli/token_command.h"
#include "common/security_options.h"

namespace warpsmith::cli {

void AddSecurityCommands(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does) {
  CLI::App* audit = make(app, "audit", "who submitted, cancelled, injected, paused what; latest first",
                         "warpsmith audit --search 3f2a91c0 --limit 20");
  const auto audit_options = std::make_shared<AuditOptions>();
  AddAuditOptions(audit, audit_options.get());
  does(audit, [&context, audit_options] { return RunAudit(context, *audit_options); });

  CLI::App* token = app->add_subcommand("token", "tokens, by which servers know who calls");
  token->require_subcommand(1);
  token->footer("Example: warpsmith token new --role operator --name alice --output alice.token");
  CLI::App* fresh = token->add_subcommand("new", "make a token, and its line for the servers' tokens file");
  fresh->footer("Example: warpsmith token new --role worker --name node7 --output node7.token");
  fresh->add_flag("--json", context.json, "print JSON");
  const auto token_options = std::make_shared<TokenOptions>();
  AddTokenOptions(fresh, token_options.get());
  does(fresh, [&context, token_options] { return RunTokenNew(context, *token_options); });
}

void AddConnectionSecurity(CLI::App* app, Context& context) {
  for (CLI::App* command : app->get_subcommands([](CLI::App*) { return true; })) {
    AddConnectionSecurity(command, context);
    if (command->get_option_no_throw("--coordinator") != nullptr ||
        command->get_option_no_throw("--gateway") != nullptr) {
      AddClientSecurityOptions(*command, &context.security);
    }
  }
}

}  // namespace warpsmith::cli
