#include "gpu_worker/reference/oracle_channel.h"

#include <fmt/format.h>
#include <signal.h>

#include <utility>

#include "gpu_worker/reference/python_locator.h"

namespace warpsmith::reference {
namespace {

constexpr size_t kMaxReplyBytes = 64u << 20;
constexpr std::chrono::seconds kStartDeadline(90);    // importing PyTorch from a cold disk
constexpr std::chrono::seconds kGreetingDeadline(5);  // a pipe takes a line whether or not anybody reads it
constexpr std::chrono::seconds kEndGrace(5);

}  // namespace

absl::StatusOr<std::unique_ptr<OracleChannel>> OracleChannel::Start(const OracleProcessOptions& options) {
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<OracleChannel> channel, Launch(options));
  WARPSMITH_RETURN_IF_ERROR(channel->Greet());
  return channel;
}

absl::StatusOr<std::unique_ptr<OracleChannel>> OracleChannel::Launch(const OracleProcessOptions& options) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path package, FindShare("gpu_worker/reference/python"));
  WARPSMITH_ASSIGN_OR_RETURN(TemporaryDirectory home, TemporaryDirectory::Create("warpsmith-oracle-"));
  ChildOptions child;
  child.ignore_stop_signals = true;
  child.arguments = {options.python,
                     "-B",
                     "-m",
                     "warpsmith_oracle",
                     "--device",
                     options.device,
                     "--threads",
                     std::to_string(options.threads),
                     "--memory-bytes",
                     std::to_string(options.memory_bytes),
                     "--reserve-bytes",
                     std::to_string(options.reserve_bytes)};
  auto environment = PythonEnvironment(home.path().string(), options.threads);
  for (const auto& [name, value] : options.environment) environment[name] = value;
  // PyTorch has thousands of kernels and uses a few; loading them all takes seconds and a gigabyte of the GPU.
  if (options.device != "cpu") environment["CUDA_MODULE_LOADING"] = "LAZY";
  environment["PYTHONPATH"] = package.string();
  child.environment = std::move(environment);
  child.working_directory = home.path().string();
  std::unique_ptr<OracleChannel> channel(new OracleChannel(std::move(home)));
  WARPSMITH_ASSIGN_OR_RETURN(channel->child_, ChildProcess::Start(child));
  return channel;
}

void OracleChannel::BeginGreeting() {
  if (greeted_) return;
  greeted_ = true;
  greeting_ = Send({{"command", "hello"}}, kGreetingDeadline);
}

absl::Status OracleChannel::Greet() {
  BeginGreeting();
  WARPSMITH_RETURN_IF_ERROR(Annotate(greeting_, "starting the oracle"));
  const absl::StatusOr<Json> hello = Receive(RealClock().Now() + kStartDeadline);
  if (!hello.ok()) return Annotate(hello.status(), "starting the oracle");
  // It may have answered long ago.
  if (!child_->Running()) return Annotate(End(Unavailable("it ended while it waited")), "starting the oracle");
  return ErrorOf(*hello);
}

absl::Status OracleChannel::End(const absl::Status& why) {
  if (absl::IsUnavailable(why)) exit_ = child_->Wait(kEndGrace);
  child_->Kill(SIGKILL);
  if (!exit_) exit_ = child_->Wait(kEndGrace);
  child_.reset();
  const std::string during = stage_.empty() ? "" : fmt::format(" (stage {})", stage_);
  if (absl::IsDeadlineExceeded(why)) return DeadlineExceeded(fmt::format("the oracle missed its deadline{}", during));
  return Unavailable(
      fmt::format("the oracle ended: {}{}", exit_ ? exit_->Describe() : std::string("no exit status"), during));
}

absl::Status OracleChannel::Send(const Json& request, Duration deadline) {
  if (child_ == nullptr) return Unavailable("the oracle has ended");
  stage_.clear();
  const std::string line = request.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  absl::Status written = child_->Write(line, deadline);
  if (written.ok()) return written;
  return End(absl::IsDeadlineExceeded(written) ? written : Unavailable(Message(written)));
}

absl::StatusOr<Json> OracleChannel::Receive(TimePoint end) {
  while (true) {
    const absl::StatusOr<std::string> answer = child_->ReadLine(end - RealClock().Now(), kMaxReplyBytes);
    if (!answer.ok()) return End(answer.status());
    Json reply = Json::parse(*answer, nullptr, false);
    if (!reply.is_object()) return End(Unavailable("no JSON object"));
    if (const auto progress = reply.find("progress"); progress != reply.end()) {
      if (progress->is_string()) stage_ = progress->get<std::string>();
      continue;
    }
    return reply;
  }
}

absl::StatusOr<Json> OracleChannel::Call(const Json& request, Duration deadline) {
  const TimePoint end = RealClock().Now() + deadline;
  WARPSMITH_RETURN_IF_ERROR(Send(request, deadline));
  return Receive(end);
}

absl::Status ErrorOf(const Json& reply) {
  if (!reply.contains("error")) return absl::OkStatus();
  const std::string kind = reply.value("kind", "internal");
  const std::string message = reply.value("message", "the oracle gave no reason");
  if (kind == "memory") return ResourceExhausted(message);
  if (kind == "order") return FailedPrecondition(message);
  if (kind == "internal") return Internal(message);
  return InvalidArgument(message);
}

}  // namespace warpsmith::reference
