#include "cli/token_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <ostream>
#include <string_view>

#include "cli/exit_code.h"
#include "common/access.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

// The whole text, or an error that names the file.
absl::Status WriteTo(const std::string& file, int flags, mode_t mode, std::string_view text) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode);
  if (descriptor < 0) {
    const int error = errno;
    return FailedPrecondition(ErrnoMessage("cannot create " + file, error) +
                              (error == EEXIST ? "; a token is never written over another: give another name" : ""));
  }
  const ssize_t written = write(descriptor, text.data(), text.size());
  const int error = errno;
  close(descriptor);
  if (written == static_cast<ssize_t>(text.size())) return absl::OkStatus();
  return FailedPrecondition(ErrnoMessage("cannot write " + file, written < 0 ? error : ENOSPC));
}

}  // namespace

void AddTokenOptions(CLI::App* command, TokenOptions* options) {
  command->add_option("--role", options->role, "viewer, operator, worker or gateway")
      ->required()
      ->check(CLI::IsMember({"viewer", "operator", "worker", "gateway"}));
  command->add_option("--name", options->name, "who shows it; a worker's node: its workers are NAME and NAME-N")
      ->required();
  command->add_option("--output", options->output, "put it into this new file, mode 600, instead of printing it")
      ->type_name("FILE");
  command->add_option("--tokens", options->tokens, "add its line to this tokens file instead of printing it")
      ->type_name("FILE");
}

int RunTokenNew(Context& context, const TokenOptions& options) {
  const auto role = ParseRole(options.role);
  if (!role) return Fail(context, InvalidArgument("--role must be viewer, operator, worker or gateway"));
  const auto made = MakeToken(*role, options.name);
  if (!made.ok()) return Fail(context, made.status());
  // The token first: a line without its token is of no use to anybody.
  if (!options.output.empty()) {
    const absl::Status status = WriteTo(options.output, O_EXCL, 0600, made->token + "\n");
    if (!status.ok()) return Fail(context, status);
  }
  if (!options.tokens.empty()) {
    const absl::Status status = WriteTo(options.tokens, O_APPEND, 0640, made->line + "\n");
    if (!status.ok()) return Fail(context, status);
  }
  if (context.json) {
    Json json = {{"role", options.role}, {"name", options.name}, {"line", made->line}};
    if (options.output.empty()) json["token"] = made->token;
    context.out << json.dump() << std::endl;
    return kExitOk;
  }
  if (options.output.empty()) {
    context.out << made->token << "\n";
    context.err << "This is shown once: put it into a file of mode 600 and give that with --token-file.\n";
  } else {
    context.err << fmt::format("The token is in {}; give it with --token-file.\n", options.output);
  }
  if (options.tokens.empty()) {
    context.err << "Its line for the servers' --tokens file:\n";
    context.out << made->line << "\n";
  } else {
    context.err << fmt::format("Its line was added to {}.\n", options.tokens);
  }
  context.out.flush();
  context.err.flush();
  return kExitOk;
}

}  // namespace warpsmith::cli
