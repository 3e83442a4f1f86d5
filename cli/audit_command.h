// `warpsmith audit`. Threading: the main thread. Errors: printed; the return value is the exit code of exit_code.h.
#ifndef WARPSMITH_CLI_AUDIT_COMMAND_H_
#define WARPSMITH_CLI_AUDIT_COMMAND_H_

#include <string>

#include "cli/context.h"
#include "warpsmith/v1/audit.pb.h"

namespace CLI {
class App;
}

namespace warpsmith::cli {

struct AuditOptions {
  std::string search_id;
  int limit = 50;
};

void AddAuditOptions(CLI::App* command, AuditOptions* options);
int RunAudit(Context& context, const AuditOptions& options);

std::string AuditText(const v1::ListAuditReply& reply);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_AUDIT_COMMAND_H_
