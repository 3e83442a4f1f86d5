#include "cli/audit_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <ostream>

#include "cli/exit_code.h"
#include "cli/message_json.h"
#include "cli/operator_client.h"
#include "cli/search_commands.h"
#include "cli/service_call.h"
#include "cli/text.h"
#include "common/grpc_channel.h"
#include "warpsmith/v1/audit.grpc.pb.h"

namespace warpsmith::cli {
namespace {

constexpr std::chrono::seconds kAuditDeadline{30};
constexpr int kAuditWidth = 160;

absl::StatusOr<v1::ListAuditReply> ListAudit(const Context& context, const AuditOptions& options) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string address, CoordinatorAddress(context));
  const auto stub = v1::AuditService::NewStub(ConnectTo(address));
  v1::ListAuditRequest request;
  request.set_search_id(options.search_id);
  request.set_limit(options.limit);
  auto reply = CallService<v1::ListAuditReply>(kAuditDeadline, *stub, &v1::AuditService::Stub::ListAudit, request);
  if (!reply.ok()) return ExplainCoordinator(address, reply.status());
  return reply;
}

}  // namespace

void AddAuditOptions(CLI::App* command, AuditOptions* options) {
  command->add_option("--search", options->search_id, "only of this search: id, or its first 6 characters or more")
      ->type_name("ID");
  command->add_option("--limit", options->limit, "default 50")->check(CLI::Range(1, 10000));
}

std::string AuditText(const v1::ListAuditReply& reply) {
  Table table;
  table.AddColumn("when (UTC)");
  table.AddColumn("who");
  table.AddColumn("role");
  table.AddColumn("did");
  table.AddColumn("search");
  table.AddColumn("what");
  for (const v1::AuditEntry& entry : reply.entries()) {
    table.AddRow({FormatInstant(entry.at_us()), Line(entry.actor()), Line(entry.role()), Line(entry.action()),
                  ShortId(entry.search_id()),
                  Line(entry.subject().empty() ? entry.detail() : entry.subject() + " " + entry.detail())});
  }
  return table.empty() ? "nothing was done yet\n" : table.ToString(kAuditWidth);
}

int RunAudit(Context& context, const AuditOptions& options) {
  const auto reply = ListAudit(context, options);
  if (!reply.ok()) return Fail(context, reply.status());
  context.out << (context.json ? MessageToJson(*reply) + "\n" : AuditText(*reply));
  context.out.flush();
  return kExitOk;
}

}  // namespace warpsmith::cli
