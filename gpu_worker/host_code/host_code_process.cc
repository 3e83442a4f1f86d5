#include "gpu_worker/host_code/host_code_process.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <utility>

namespace warpsmith::host_code {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(50);  // between two looks at a process that has not answered
constexpr Duration kStartDeadline = std::chrono::seconds(90);
constexpr Duration kWriteDeadline = std::chrono::seconds(5);
constexpr Duration kEndDeadline = std::chrono::seconds(5);
constexpr Duration kGroupDeadline = std::chrono::seconds(2);
constexpr size_t kMostAnswerBytes = 4u << 20;
constexpr size_t kMostMessage = 4096;
constexpr uint64_t kMostCpuSeconds = 3600;
constexpr uint64_t kOpenFiles = 4096;

// A candidate may have written it: plain text only.
std::string Plain(const std::string& message) {
  std::string text;
  for (const char c : message.substr(0, kMostMessage)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte == '\n' || byte == '\t' || (byte >= 0x20 && byte < 0x7f) ? c : '?';
  }
  return text;
}

// What a process says of itself; anything that it should not say counts as a failed run.
v1::Outcome OutcomeOf(const std::string& fault, const std::string& message) {
  if (fault == "source" || fault == "constructor") return v1::OUTCOME_COMPILE_ERROR;
  if (fault == "no_model") return v1::OUTCOME_PLAN_ERROR;
  if (fault == "output") return v1::OUTCOME_WRONG_OUTPUT;
  if (fault == "memory") return v1::OUTCOME_OUT_OF_MEMORY;
  if (message.find("illegal memory access") != std::string::npos) return v1::OUTCOME_ILLEGAL_ACCESS;
  return v1::OUTCOME_LAUNCH_ERROR;
}

// What runs, for people.
std::string Doing(const std::string& command) {
  if (command == "load_candidate") return "importing the file";
  if (command == "build") return "ModelNew(*get_init_inputs())";
  if (command == "run") return "forward()";
  return command;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HostCodeProcess>> HostCodeProcess::Launch(const HostCodeProcessOptions& options) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path driver, FindShare("gpu_worker/host_code/python"));
  WARPSMITH_ASSIGN_OR_RETURN(TemporaryDirectory folder, TemporaryDirectory::Create("warpsmith-host-code-"));
  const std::string home = folder.path().string();
  SandboxPaths paths = options.paths;
  paths.read.push_back(driver.string());
  paths.write.push_back(home);
  if (!options.buffer_folder.empty()) paths.data.push_back(options.buffer_folder);
  std::string oracle;
  if (options.reference) {
    WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path package, FindShare("gpu_worker/reference/python"));
    oracle = package.string();
    paths.read.push_back(oracle);
  }

  ChildOptions child;
  child.ignore_stop_signals = true;
  child.arguments = {options.launcher, fmt::format("--cpu-seconds={}", kMostCpuSeconds),
                     fmt::format("--file-bytes={}", options.file_bytes), fmt::format("--open-files={}", kOpenFiles)};
  for (const std::string& path : paths.read) child.arguments.push_back("--read=" + path);
  for (const std::string& path : paths.write) child.arguments.push_back("--write=" + path);
  for (const std::string& path : paths.data) child.arguments.push_back("--data=" + path);
  child.arguments.insert(
      child.arguments.end(),
      {"--", options.python, "-I", "-B", (driver / "run.py").string(), "--role",
       options.reference ? "reference" : "candidate", "--folder", home, "--device", options.device, "--threads",
       std::to_string(options.threads), "--memory-bytes", std::to_string(options.memory_bytes)});
  if (options.reference) child.arguments.insert(child.arguments.end(), {"--oracle", oracle});
  std::map<std::string, std::string> environment = HostCodeEnvironment(options.python, home, options.threads);
  for (const auto& [name, value] : options.environment) environment[name] = value;
  child.environment = std::move(environment);
  child.working_directory = home;

  std::unique_ptr<HostCodeProcess> process(new HostCodeProcess(std::move(folder), options.memory_bytes));
  WARPSMITH_ASSIGN_OR_RETURN(process->child_, ChildProcess::Start(child));
  return process;
}

HostCodeProcess::~HostCodeProcess() { End(); }

void HostCodeProcess::End() {
  if (child_ == nullptr) return;
  const pid_t group = child_->pid();
  child_->Kill(SIGKILL);
  child_->Wait(kEndDeadline);
  child_.reset();
  // What it has started dies too, and must not run beside what comes next.
  const TimePoint deadline = RealClock().Now() + kGroupDeadline;
  while (kill(-group, 0) == 0 && RealClock().Now() < deadline) RealClock().SleepFor(std::chrono::milliseconds(1));
}

absl::Status HostCodeProcess::Greet() { return Command("hello", Json::object(), kStartDeadline).status(); }

// It stays a zombie, so that its number still names its group when that is killed.
bool HostCodeProcess::HasEnded(Duration limit) const {
  for (const TimePoint deadline = RealClock().Now() + limit;;) {
    siginfo_t information{};
    const pid_t pid = child_->pid();
    if (waitid(P_PID, static_cast<id_t>(pid), &information, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        information.si_pid == pid) {
      return true;
    }
    if (RealClock().Now() >= deadline) return false;
    RealClock().SleepFor(std::chrono::milliseconds(1));
  }
}

uint64_t HostCodeProcess::ResidentBytes() const {
  std::ifstream file(fmt::format("/proc/{}/statm", static_cast<int>(child_->pid())));
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return file ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// Processes that it started may hold its pipe open: its end, and not the pipe's, ends the wait.
absl::StatusOr<std::string> HostCodeProcess::ReadAnswer(TimePoint deadline) {
  for (bool last = false;; last = HasEnded(Duration(0))) {
    const Duration left = std::max<Duration>(deadline - RealClock().Now(), Duration(0));
    absl::StatusOr<std::string> line = child_->ReadLine(last ? Duration(0) : std::min(kLook, left), kMostAnswerBytes);
    if (line.ok() || !absl::IsDeadlineExceeded(line.status())) return line;
    if (last) return Unavailable("it ended");
    if (left <= Duration(0)) return line;
    if (memory_bytes_ > 0 && ResidentBytes() > memory_bytes_ + (uint64_t{4} << 30)) {
      return ResourceExhausted("it took too much memory");
    }
  }
}

HostCodeAnswer HostCodeProcess::Taken(const std::string& line) {
  HostCodeAnswer answer;
  const absl::StatusOr<Json> reply = ParseStrictJson(line, {.max_depth = 64, .max_bytes = kMostAnswerBytes});
  const bool sane = reply.ok() && reply->is_object() && reply->contains("id") && (*reply)["id"].is_number_integer();
  const int64_t id = sane ? (*reply)["id"].get<int64_t>() : -1;
  // What the launcher says comes before any request.
  const bool own = sane && (id == number_ || (id == 0 && number_ == 1));
  if (!own) {
    answer.outcome = v1::OUTCOME_LAUNCH_ERROR;
    answer.reason = "channel";
    answer.message = "the candidate wrote to the channel of its own process: what came is no answer to the request";
    End();
    answer.ended = true;
    return answer;
  }
  answer.reply = *reply;
  const auto text = [&](const char* name) {
    const auto found = reply->find(name);
    return found != reply->end() && found->is_string() ? Plain(found->get<std::string>()) : std::string();
  };
  if (reply->contains("fault")) {
    answer.reason = text("fault");
    answer.message = text("message");
    answer.outcome = OutcomeOf(answer.reason, answer.message);
  }
  return answer;
}

HostCodeAnswer HostCodeProcess::Ended(const absl::Status& why, const std::string& doing, Duration limit) {
  HostCodeAnswer answer;
  answer.ended = true;
  std::optional<ChildExit> exit;
  const bool by_itself = absl::IsUnavailable(why) && HasEnded(kEndDeadline);
  child_->Kill(SIGKILL);  // whatever it left behind
  if (by_itself) exit = child_->Wait(kEndDeadline);
  End();
  if (absl::IsDeadlineExceeded(why)) {
    answer.outcome = v1::OUTCOME_TIMEOUT;
    answer.message = fmt::format("{} was still running after its limit of {:g} s", doing, ToSeconds(limit));
  } else if (absl::IsResourceExhausted(why)) {
    answer.outcome = v1::OUTCOME_OUT_OF_MEMORY;
    answer.message = fmt::format("{}: {}", doing, Message(why));
  } else if (exit && exit->signaled && (exit->signal == SIGSEGV || exit->signal == SIGBUS)) {
    answer.outcome = v1::OUTCOME_ILLEGAL_ACCESS;
    answer.message = fmt::format("{}: the process died of an access violation", doing);
  } else {
    answer.outcome = v1::OUTCOME_LAUNCH_ERROR;
    answer.message = exit ? fmt::format("{}: the process ended without an answer, {}", doing, exit->Describe())
                          : fmt::format("{}: the candidate closed the channel of its own process", doing);
  }
  answer.reason = "process";
  return answer;
}

HostCodeAnswer HostCodeProcess::Ask(const std::string& command, Json request, Duration limit, After after) {
  if (child_ == nullptr) {
    HostCodeAnswer answer;
    answer.outcome = v1::OUTCOME_LAUNCH_ERROR;
    answer.reason = "process";
    answer.message = "its process has ended";
    answer.ended = true;
    return answer;
  }
  request["id"] = ++number_;
  request["command"] = command;
  const std::string line = request.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const TimePoint start = RealClock().Now();
  child_->Kill(SIGCONT);
  const absl::Status written = child_->Write(line, std::max(kWriteDeadline, limit));
  const absl::StatusOr<std::string> read = written.ok() ? ReadAnswer(start + limit) : written;
  const double seconds = ToSeconds(RealClock().Now() - start);
  child_->Kill(after == After::kKill ? SIGKILL : SIGSTOP);
  HostCodeAnswer answer = read.ok() ? Taken(*read) : Ended(read.status(), Doing(command), limit);
  answer.seconds = seconds;
  if (after == After::kKill) {
    End();
    answer.ended = true;
  }
  return answer;
}

absl::StatusOr<Json> HostCodeProcess::Command(const std::string& command, Json request, Duration limit) {
  HostCodeAnswer answer = Ask(command, std::move(request), limit);
  if (answer.outcome == v1::OUTCOME_OK) return std::move(answer.reply);
  const std::string text = fmt::format("a process of host code: {}: {}", command, answer.message);
  if (answer.reason == "sandbox") return FailedPrecondition(text);
  if (answer.outcome == v1::OUTCOME_OUT_OF_MEMORY) return ResourceExhausted(text);
  return answer.ended ? Unavailable(text) : InvalidArgument(text);
}

}  // namespace warpsmith::host_code
