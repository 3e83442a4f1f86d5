#include "gpu_worker/executor/process_executor.h"

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <numeric>

#include "common/hash.h"
#include "gpu_worker/executor/frame.h"

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

absl::Status CheckSpec(const ExecutorSpec& spec) {
  if (spec.slots.empty()) return InvalidArgument("an executor needs at least one slot of buffers");
  for (const std::vector<SharedBuffer>& slot : spec.slots) {
    if (slot.size() != static_cast<size_t>(spec.plan.buffers_size())) {
      return InvalidArgument(
          fmt::format("a slot has {} buffers, the plan has {}", slot.size(), spec.plan.buffers_size()));
    }
    for (size_t b = 0; b < slot.size(); ++b) {
      const v1::ExecutionBuffer& buffer = spec.plan.buffers(static_cast<int>(b));
      if (slot[b].payload_bytes < buffer.bytes() || slot[b].payload_offset < 0 || slot[b].payload_offset % 256 != 0) {
        return InvalidArgument(
            fmt::format("buffer {} has {} bytes at {} of its file, the plan needs {} at a multiple of 256",
                        buffer.name(), slot[b].payload_bytes, slot[b].payload_offset, buffer.bytes()));
      }
    }
  }
  return absl::OkStatus();
}

std::string EncodeSpec(const ExecutorSpec& spec, const std::string& nonce) {
  wire::Spec message;
  message.set_nonce(nonce);
  message.set_artifact_path(spec.artifact_path);
  *message.mutable_plan() = spec.plan;
  message.set_address_space_bytes(spec.address_space_bytes);
  for (const std::vector<SharedBuffer>& slot : spec.slots) {
    wire::Slot* target = message.add_slots();
    for (const SharedBuffer& file : slot) {
      wire::Buffer* buffer = target->add_buffers();
      buffer->set_path(file.path);
      buffer->set_payload_offset(file.payload_offset);
      buffer->set_payload_bytes(file.payload_bytes);
    }
  }
  return message.SerializeAsString();
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
                                                                 const ExecutorSpec& spec) {
  WARPSMITH_RETURN_IF_ERROR(CheckSpec(spec));
  std::string nonce = RandomHex(kNonceBytes / 2);
  WARPSMITH_RETURN_IF_ERROR(
      Annotate(child->Write(EncodeFrame(EncodeSpec(spec, nonce)), kStartDeadline), "sending an executor its spec"));
  auto executor = std::unique_ptr<ProcessExecutor>(new ProcessExecutor(std::move(child), nonce));
  absl::StatusOr<wire::Report> ready = executor->ReadReport(kStartDeadline);
  if (!ready.ok()) {
    std::optional<ChildExit> exit = executor->child_->Wait(kExitDeadline);
    return Internal(
        fmt::format("the executor did not start: {}{}", Message(ready.status()), exit ? ", " + exit->Describe() : ""));
  }
  if (ready->outcome() != v1::OUTCOME_OK) {
    return Internal(fmt::format("the executor did not start: {}", Clean(ready->message())));
  }
  return std::unique_ptr<Executor>(std::move(executor));
}

ProcessExecutor::~ProcessExecutor() = default;

RunReport ProcessExecutor::Run(const RunRequest& request) {
  wire::Request message;
  message.add_slots(request.slot);
  message.set_order_seed(request.order_seed);
  message.set_shared_fill(request.shared_fill);
  message.set_runs(request.repetitions);
  return Ask(message, request.limit_seconds);
}

RunReport ProcessExecutor::Time(const TimeRequest& request) {
  wire::Request message;
  for (int slot : request.slots) message.add_slots(slot);
  message.set_shared_fill(kSharedPoison);
  message.set_unmeasured_runs(request.warmups);
  message.set_runs(request.samples);
  message.set_cold(request.cold);
  return Ask(message, request.limit_seconds);
}

RunReport ProcessExecutor::Ask(const wire::Request& request, double limit_seconds) {
  if (child_ == nullptr) return last_;
  double start = ProcessorSeconds(*child_);
  absl::Status sent = child_->Write(EncodeFrame(request.SerializeAsString()), kWriteDeadline);
  absl::StatusOr<wire::Report> report = sent.ok() ? ReadReport(FromSeconds(limit_seconds)) : sent;
  double host_seconds = std::max(0.0, ProcessorSeconds(*child_) - start);
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
  result.device_seconds = std::accumulate(result.samples.begin(), result.samples.end(), 0.0);
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
  bool sane = report.ParseFromString(body) &&
              (IsExecutorOutcome(report.outcome()) || (sequence_ == 1 && report.outcome() == v1::OUTCOME_INFRA_ERROR));
  for (double seconds : report.run_seconds()) sane = sane && std::isfinite(seconds) && seconds >= 0;
  if (!sane) return FailedPrecondition("the candidate wrote to the executor's report channel");
  return report;
}

RunReport ProcessExecutor::Ended(v1::Outcome outcome, std::string message) {
  if (child_ != nullptr) child_->Kill(SIGKILL);
  child_.reset();
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

ProcessExecutorFactory::ProcessExecutorFactory(std::string program, int idle)
    : program_(std::move(program)), idle_(std::max(idle, 0)), refill_([this] { Refill(); }) {}

ProcessExecutorFactory::~ProcessExecutorFactory() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  refill_.join();
}

void ProcessExecutorFactory::Refill() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || static_cast<int>(ready_.size()) < std::max(idle_, waiting_); });
    if (stopping_) break;
    lock.unlock();
    ChildOptions options;
    options.arguments = {program_};
    options.environment.emplace();
    absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(options);
    lock.lock();
    failure_ = child.status();
    if (child.ok()) ready_.push_back(std::move(*child));
    changed_.notify_all();
    if (!failure_.ok()) changed_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_; });
  }
  ready_.clear();
}

absl::StatusOr<std::unique_ptr<ChildProcess>> ProcessExecutorFactory::TakeIdle() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++waiting_;
    failure_ = absl::OkStatus();
    changed_.notify_all();
    bool in_time = changed_.wait_for(lock, kStartDeadline, [this] { return !ready_.empty() || !failure_.ok(); });
    --waiting_;
    if (ready_.empty()) {
      if (!failure_.ok()) return Annotate(failure_, "cannot start an executor");
      if (!in_time) return DeadlineExceeded("no executor process started in time");
      continue;
    }
    std::unique_ptr<ChildProcess> child = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    if (child->Running()) return child;
  }
}

absl::StatusOr<std::unique_ptr<Executor>> ProcessExecutorFactory::Start(const ExecutorSpec& spec) {
  WARPSMITH_RETURN_IF_ERROR(CheckSpec(spec));
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<ChildProcess> child, TakeIdle());
  return ProcessExecutor::Start(std::move(child), spec);
}

}  // namespace warpsmith::executor
