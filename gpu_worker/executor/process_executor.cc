#include "gpu_worker/executor/process_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <numeric>
#include <optional>

#include "common/hash.h"
#include "common/log.h"
#include "gpu_worker/executor/frame.h"
#include "gpu_worker/executor/spec_message.h"
#include "gpu_worker/library/shared_library.h"

namespace warpsmith::executor {
namespace {

constexpr Duration kStartDeadline = std::chrono::seconds(20);
constexpr Duration kWriteDeadline = std::chrono::seconds(5);
constexpr Duration kExitDeadline = std::chrono::seconds(2);
constexpr size_t kMaxMessage = 8192;

bool IsExecutorOutcome(v1::Outcome outcome) {
  switch (outcome) {
    case v1::OUTCOME_OK:
    case v1::OUTCOME_ILLEGAL_ACCESS:
    case v1::OUTCOME_LAUNCH_ERROR:
    case v1::OUTCOME_OUT_OF_MEMORY:
    case v1::OUTCOME_NEEDS_GPU:
      return true;
    default:
      return false;
  }
}

// Processor time of the child so far by the kernel's account, which the child cannot change.
double ProcessorSeconds(ChildProcess& child) {
  clockid_t clock;
  timespec now{};
  if (clock_getcpuclockid(child.pid(), &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What a model wrote may be in it: plain text only.
std::string Clean(const std::string& message) {
  std::string text;
  for (char c : message.substr(0, kMaxMessage)) {
    auto byte = static_cast<unsigned char>(c);
    text += byte == '\n' || byte == '\t' || (byte >= 0x20 && byte < 0x7f) ? c : '?';
  }
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Executor>> ProcessExecutor::Start(std::unique_ptr<ChildProcess> child,
                                                                 const ExecutorSpec& spec, bool cuda, ChildPool& pool,
                                                                 std::string& note) {
  std::string nonce = RandomHex(kNonceBytes / 2);
  auto executor = std::unique_ptr<ProcessExecutor>(new ProcessExecutor(std::move(child), nonce, cuda, pool));
  WARPSMITH_ASSIGN_OR_RETURN(std::string message, EncodeSpec(spec, nonce, cuda));
  WARPSMITH_RETURN_IF_ERROR(
      Annotate(executor->child_->Write(EncodeFrame(message), kStartDeadline), "sending an executor its spec"));
  absl::StatusOr<wire::Report> ready = executor->ReadReport(kStartDeadline);
  if (!ready.ok()) {
    std::optional<ChildExit> exit = executor->child_->Wait(kExitDeadline);
    return Internal(
        fmt::format("the executor did not start: {}{}", Message(ready.status()), exit ? ", " + exit->Describe() : ""));
  }
  if (ready->outcome() != v1::OUTCOME_OK) {
    return Internal(fmt::format("the executor did not start: {}", Clean(ready->message())));
  }
  note = Clean(ready->message());
  return std::unique_ptr<Executor>(std::move(executor));
}

ProcessExecutor::~ProcessExecutor() { pool_.Retire(std::move(child_)); }

RunReport ProcessExecutor::Run(const RunRequest& request) {
  wire::Request message;
  message.add_slots(request.slot);
  message.set_order_seed(request.order_seed);
  message.set_shared_fill(request.shared_fill);
  message.set_runs(request.repetitions);
  message.set_batch(cuda_);
  return Ask(message, request.limit_seconds);
}

RunReport ProcessExecutor::Time(const TimeRequest& request) {
  wire::Request message;
  for (int slot : request.slots) message.add_slots(slot);
  message.set_shared_fill(kSharedPoison);
  message.set_unmeasured_runs(request.warmups);
  message.set_runs(request.samples);
  message.set_cold(request.cold);
  message.set_poison(request.poison);
  return Ask(message, request.limit_seconds);
}

// The kernel of a GPU runs beside the child's own work, so wall time counts there.
double ProcessExecutor::HostSeconds() const {
  return cuda_ ? ToSeconds(RealClock().Now().time_since_epoch()) : ProcessorSeconds(*child_);
}

RunReport ProcessExecutor::Ask(const wire::Request& request, double limit_seconds) {
  if (child_ == nullptr) return last_;
  double start = HostSeconds();
  absl::Status sent = child_->Write(EncodeFrame(request.SerializeAsString()), kWriteDeadline);
  absl::StatusOr<wire::Report> report = sent.ok() ? ReadReport(FromSeconds(limit_seconds)) : sent;
  double host_seconds = std::max(0.0, HostSeconds() - start);
  if (!report.ok()) {
    RunReport ended = Explain(report.status(), limit_seconds);
    ended.host_seconds = host_seconds;
    return ended;
  }
  if (report->outcome() != v1::OUTCOME_OK) {
    RunReport ended = Ended(report->outcome(), Clean(report->message()));
    ended.host_seconds = host_seconds;
    return ended;
  }
  RunReport result;
  result.outcome = v1::OUTCOME_OK;
  result.message = Clean(report->message());
  result.host_seconds = host_seconds;
  result.samples.assign(report->run_seconds().begin(), report->run_seconds().end());
  result.device_seconds = std::accumulate(result.samples.begin(), result.samples.end(), report->batch_seconds());
  result.launch_mode = report->launch_mode();
  result.prepare_seconds = report->prepare_seconds();
  return result;
}

// Everything the child sends is taken apart as if an enemy had written it.
absl::StatusOr<wire::Report> ProcessExecutor::ReadReport(Duration limit) {
  TimePoint deadline = RealClock().Now() + limit;
  WARPSMITH_ASSIGN_OR_RETURN(std::string head, child_->ReadExactly(kReportHeadBytes, limit));
  ReportHead fields;
  std::memcpy(&fields, head.data(), sizeof fields);
  if (std::string_view(fields.nonce, kNonceBytes) != nonce_ || fields.sequence != sequence_ ||
      fields.bytes > kMaxReportBytes) {
    return FailedPrecondition("the candidate wrote to the executor's report channel");
  }
  ++sequence_;
  Duration left = std::max<Duration>(deadline - RealClock().Now(), std::chrono::milliseconds(100));
  WARPSMITH_ASSIGN_OR_RETURN(std::string body, child_->ReadExactly(fields.bytes, left));
  wire::Report report;
  if (!report.ParseFromString(body) || !IsSane(report)) {
    return FailedPrecondition("the candidate wrote to the executor's report channel");
  }
  return report;
}

bool ProcessExecutor::IsSane(const wire::Report& report) const {
  auto plausible = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
  bool first = sequence_ == 1;
  // Once a candidate is loaded, only a GPU can still be at fault by itself, and a candidate there has no host code.
  bool known = IsExecutorOutcome(report.outcome()) || ((first || cuda_) && report.outcome() == v1::OUTCOME_INFRA_ERROR);
  bool mode = report.launch_mode().empty() || report.launch_mode() == "graph" || report.launch_mode() == "stream";
  return known && mode && plausible(report.batch_seconds()) && plausible(report.prepare_seconds()) &&
         std::all_of(report.run_seconds().begin(), report.run_seconds().end(), plausible);
}

RunReport ProcessExecutor::Ended(v1::Outcome outcome, std::string message) {
  // Waits: what the candidate left running must not run beside what comes next.
  pool_.End(std::move(child_));
  last_ = RunReport{};
  last_.outcome = outcome;
  last_.message = std::move(message);
  return last_;
}

RunReport ProcessExecutor::Explain(const absl::Status& status, double limit_seconds) {
  if (status.code() == absl::StatusCode::kDeadlineExceeded) {
    return Ended(v1::OUTCOME_TIMEOUT, fmt::format("the plan ran for more than its limit of {:g} s", limit_seconds));
  }
  if (status.code() == absl::StatusCode::kFailedPrecondition) {
    return Ended(v1::OUTCOME_LAUNCH_ERROR, Message(status));
  }
  std::optional<ChildExit> exit = child_->Wait(kExitDeadline);
  if (!exit) return Ended(v1::OUTCOME_LAUNCH_ERROR, "the candidate closed the executor's report channel");
  if (!exit->signaled) {
    return Ended(v1::OUTCOME_LAUNCH_ERROR,
                 fmt::format("the process ended without a result, with exit status {}", exit->exit_code));
  }
  switch (exit->signal) {
    case SIGSEGV:
    case SIGBUS:
      return Ended(v1::OUTCOME_ILLEGAL_ACCESS, "the process died of an access violation");
    case SIGSYS:
      return Ended(v1::OUTCOME_LAUNCH_ERROR, "the sandbox stopped the candidate: it made a forbidden system call");
    default:
      return Ended(v1::OUTCOME_LAUNCH_ERROR, fmt::format("the process ended without a result, {}", exit->Describe()));
  }
}

namespace {

ChildOptions ToChildOptions(const ProcessExecutorOptions& options) {
  ChildOptions child;
  child.ignore_stop_signals = true;
  child.arguments = {options.program};
  child.environment = options.environment;
  if (!options.cuda) return child;
  child.arguments.push_back("--cuda");
  if (!options.restrict_files) child.arguments.push_back("--open-files");
  std::vector<std::string> folders = options.library_folders;
  // A child's environment does not tell it.
  if (folders.empty()) folders = library::FindLibraryFolders();
  for (const std::string& folder : folders) {
    child.arguments.push_back("--library-folder=" + folder);
  }
  return child;
}

ProcessExecutorOptions Emulated(std::string program, RefillLimits refill) {
  ProcessExecutorOptions options;
  options.program = std::move(program);
  options.refill = refill;
  return options;
}

}  // namespace

ProcessExecutorFactory::ProcessExecutorFactory(const ProcessExecutorOptions& options)
    : cuda_(options.cuda), pool_(ToChildOptions(options), options.refill) {}

ProcessExecutorFactory::ProcessExecutorFactory(std::string program, RefillLimits refill)
    : ProcessExecutorFactory(Emulated(std::move(program), refill)) {}

ProcessExecutorFactory::~ProcessExecutorFactory() = default;

absl::StatusOr<std::unique_ptr<Executor>> ProcessExecutorFactory::Start(const ExecutorSpec& spec) {
  WARPSMITH_RETURN_IF_ERROR(CheckSpec(spec, cuda_));
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<ChildProcess> child, pool_.Take());
  std::string note;
  // Opening twenty buffers takes the driver 5 ms alone, and 50 ms beside contexts that are being made.
  std::optional<ChildPool::Hold> hold;
  if (cuda_) hold.emplace(pool_);
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor,
                             ProcessExecutor::Start(std::move(child), spec, cuda_, pool_, note));
  if (!note.empty() && !told_note_.exchange(true)) spdlog::warn("executors run with less protection here: {}", note);
  return executor;
}

void ProcessExecutorFactory::SetQuiet(bool quiet) { pool_.SetQuiet(quiet); }

bool ProcessExecutorFactory::Wedged() const { return pool_.Wedged(); }

}  // namespace warpsmith::executor
