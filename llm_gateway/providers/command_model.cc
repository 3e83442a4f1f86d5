#include "llm_gateway/providers/command_model.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "common/child_process.h"
#include "common/clock.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr int kPollMilliseconds = 20;  // how soon a cancellation is seen

std::map<std::string, std::string> ShortEnvironment(const ModelConfig& config) {
  std::vector<std::string> names = {"PATH", "HOME", "USER", "LANG", "TMPDIR"};
  names.insert(names.end(), config.pass_environment.begin(), config.pass_environment.end());
  std::map<std::string, std::string> environment;
  for (const std::string& name : names) {
    if (const char* value = std::getenv(name.c_str())) environment[name] = value;
  }
  return environment;
}

Completion Failed(ErrorClass error, std::string message) {
  Completion completion;
  completion.error = error;
  completion.message = std::move(message);
  completion.finish_reason = "error";
  return completion;
}

}  // namespace

Completion CommandModel::Complete(const PromptRequest& request, const DeltaCallback& on_delta,
                                  Cancellation& cancellation) {
  std::string prompt;
  for (const PromptMessage& message : request.messages) prompt += message.text + "\n\n";
  const TimePoint started = RealClock().Now();
  const TimePoint deadline = started + FromSeconds(config_.total_seconds);
  auto failed = [&](ErrorClass error, const std::string& what) {
    Completion completion = Failed(error, fmt::format("{}: {}: {}", config_.name, config_.command[0], what));
    completion.tries = 1;
    completion.seconds = ToSeconds(RealClock().Now() - started);
    return completion;
  };

  ChildOptions options;
  options.arguments = config_.command;
  options.environment = ShortEnvironment(config_);
  auto child = ChildProcess::Start(options);
  if (!child.ok())
    return failed(ErrorClass::kConfiguration, Message(child.status()) + "; check " + config_.place + ".command");

  // Reading and writing go on side by side: a program may answer before it has read everything.
  std::string_view to_write = prompt;
  std::string output;
  double first_byte = 0;
  bool open = true;
  bool input_open = true;
  while (open) {
    if (cancellation.cancelled()) return failed(ErrorClass::kCancelled, "cancelled");
    if (RealClock().Now() >= deadline) {
      return failed(ErrorClass::kTotalTimeout, fmt::format("did not end within {:g} s; {}.total_seconds sets this",
                                                           config_.total_seconds, config_.place));
    }
    pollfd polls[2] = {{(*child)->output_descriptor(), POLLIN, 0},
                       {input_open ? (*child)->input_descriptor() : -1, POLLOUT, 0}};
    if (poll(polls, 2, kPollMilliseconds) <= 0) continue;
    if (polls[1].revents != 0) {
      ssize_t n = WriteQuietly((*child)->input_descriptor(), to_write.data(), std::min<size_t>(to_write.size(), 65536));
      if (n > 0) to_write.remove_prefix(static_cast<size_t>(n));
      // A program that does not read all of its input may still answer.
      if ((n < 0 && errno != EAGAIN && errno != EINTR) || to_write.empty()) {
        input_open = false;
        (*child)->CloseInput();
      }
    }
    if (polls[0].revents != 0) {
      char chunk[65536];
      ssize_t n = read((*child)->output_descriptor(), chunk, sizeof chunk);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) open = false;
      if (n > 0) {
        if (output.empty()) first_byte = ToSeconds(RealClock().Now() - started);
        output.append(chunk, static_cast<size_t>(n));
        if (output.size() > static_cast<size_t>(config_.max_output_bytes)) {
          return failed(ErrorClass::kTooLarge, fmt::format("wrote more than {} bytes; {}.max_output_bytes sets this",
                                                           config_.max_output_bytes, config_.place));
        }
        if (on_delta) on_delta(DeltaKind::kText, {chunk, static_cast<size_t>(n)});
      }
    }
  }
  std::optional<ChildExit> exit;
  while (!exit) {
    exit = (*child)->Wait(std::chrono::milliseconds(kPollMilliseconds));
    if (!exit && (cancellation.cancelled() || RealClock().Now() >= deadline)) {
      return failed(ErrorClass::kTotalTimeout, "closed its output and did not end");
    }
  }
  if (exit->signaled || exit->exit_code != 0) {
    return failed(ErrorClass::kServer, exit->Describe() + "; run it by hand with a prompt on its standard input");
  }
  Completion completion;
  completion.text = ValidText(output);
  completion.finish_reason = "stop";
  completion.tries = 1;
  completion.first_byte_seconds = first_byte;
  completion.seconds = ToSeconds(RealClock().Now() - started);
  return completion;
}

}  // namespace warpsmith::gateway
