#include "llm_gateway/providers/command_model.h"

#include <fmt/format.h>

#include <cstdlib>

#include "common/clock.h"
#include "common/run_child.h"
#include "llm_gateway/async/wait_point.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

std::map<std::string, std::string> ShortEnvironment(const ModelConfig& config) {
  std::vector<std::string> names = {"PATH", "HOME", "USER", "LANG", "TMPDIR"};
  names.insert(names.end(), config.pass_environment.begin(), config.pass_environment.end());
  std::map<std::string, std::string> environment;
  for (const std::string& name : names) {
    if (const char* value = std::getenv(name.c_str())) environment[name] = value;
  }
  return environment;
}

}  // namespace

Completion CommandModel::Complete(const PromptRequest& request, const DeltaCallback& on_delta,
                                  Cancellation& cancellation) {
  Completion completion;
  RunBlocking([&] { completion = RunProgram(request, on_delta, cancellation); });
  return completion;
}

Completion CommandModel::RunProgram(const PromptRequest& request, const DeltaCallback& on_delta,
                                    Cancellation& cancellation) const {
  std::string prompt;
  for (const PromptMessage& message : request.messages) prompt += message.text.str() + "\n\n";
  const TimePoint started = RealClock().Now();
  auto failed = [&](ErrorClass error, const std::string& what) {
    Completion completion;
    completion.error = error;
    completion.message = fmt::format("{}: {}: {}", config_.name, config_.command[0], what);
    completion.finish_reason = "error";
    completion.tries = 1;
    completion.seconds = ToSeconds(RealClock().Now() - started);
    return completion;
  };

  ChildOptions options;
  options.arguments = config_.command;
  options.environment = ShortEnvironment(config_);
  options.max_output_bytes = static_cast<size_t>(config_.max_output_bytes) + 1;
  size_t written = 0;
  RunHooks hooks;
  hooks.keep_running = [&] { return !cancellation.cancelled(); };
  hooks.on_output = [&](std::string_view piece) {
    written += piece.size();
    if (written > static_cast<size_t>(config_.max_output_bytes)) return false;
    if (on_delta) on_delta(DeltaKind::kText, piece);
    return true;
  };
  absl::StatusOr<ChildExit> exit = RunChild(options, prompt, FromSeconds(config_.total_seconds), hooks);
  if (!exit.ok()) {
    return failed(ErrorClass::kConfiguration, Message(exit.status()) + "; check " + config_.place + ".command");
  }
  if (exit->timed_out) {
    return failed(ErrorClass::kTotalTimeout, fmt::format("did not end within {:g} s; {}.total_seconds sets this",
                                                         config_.total_seconds, config_.place));
  }
  if (written > static_cast<size_t>(config_.max_output_bytes)) {
    return failed(ErrorClass::kTooLarge, fmt::format("wrote more than {} bytes; {}.max_output_bytes sets this",
                                                     config_.max_output_bytes, config_.place));
  }
  if (exit->stopped) return failed(ErrorClass::kCancelled, "cancelled");
  if (exit->signaled || exit->exit_code != 0) {
    return failed(ErrorClass::kServer, exit->Describe() + "; run it by hand with a prompt on its standard input");
  }
  Completion completion;
  completion.text = ValidText(exit->standard_output);
  completion.finish_reason = "stop";
  completion.tries = 1;
  completion.first_byte_seconds = exit->first_output_seconds;
  completion.seconds = ToSeconds(RealClock().Now() - started);
  return completion;
}

}  // namespace warpsmith::gateway
