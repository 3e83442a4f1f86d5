#include "coordinator/api/worker_gate.h"

#include <fmt/format.h>

namespace warpsmith::api {
namespace {

constexpr std::string_view kSessionPath = "/warpsmith.v1.WorkerService/Session";

absl::Status CheckRunningTasks(const char* field, int count) {
  if (count <= kMostRunningTasks) return absl::OkStatus();
  return InvalidArgument(fmt::format("{} has {} tasks; a worker runs at most {}", field, count, kMostRunningTasks));
}

absl::Status CheckHelloSize(const v1::Hello& hello) {
  WARPSMITH_RETURN_IF_ERROR(CheckRunningTasks("Hello.running", hello.running_size()));
  if (const size_t size = hello.device().ByteSizeLong(); size > kLargestDevice) {
    return InvalidArgument(fmt::format("Hello.device has {} bytes; at most {} are taken", size, kLargestDevice));
  }
  if (const size_t size = hello.ByteSizeLong(); size > kLargestHello) {
    return InvalidArgument(fmt::format("Hello has {} bytes; at most {} are taken", size, kLargestHello));
  }
  return absl::OkStatus();
}

void BoundResult(v1::TaskResult* result) {
  const size_t size = result->ByteSizeLong();
  if (size <= kLargestResult) return;
  result->set_infra_error(fmt::format("the worker's result has {} bytes; at most {} are taken", size, kLargestResult));
}

}  // namespace

WorkerGate::WorkerGate(std::shared_ptr<const AccessControl> access, std::string authorization)
    : access_(std::move(access)), authorization_(std::move(authorization)) {}

absl::Status WorkerGate::CheckToken() {
  if (!access_) return absl::OkStatus();
  const int64_t generation = access_->generation();
  if (generation == generation_) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(const TokenIdentity identity, access_->Check(authorization_, kSessionPath));
  if (generation_ != -1 && identity.name != name_) {
    return MakeStatus(absl::StatusCode::kUnauthenticated, "the token has a new name; connect again");
  }
  name_ = identity.name;
  generation_ = generation;
  return absl::OkStatus();
}

absl::Status WorkerGate::Check(v1::WorkerMessage* message) {
  WARPSMITH_RETURN_IF_ERROR(CheckToken());
  if (message->has_hello()) {
    WARPSMITH_RETURN_IF_ERROR(CheckHelloSize(message->hello()));
    if (access_ && !WorkerIdFits(message->hello().worker_id(), name_)) {
      return MakeStatus(absl::StatusCode::kPermissionDenied,
                        fmt::format("Hello.worker_id: the token is {}'s, so the worker must be {} or {}-N; give it "
                                    "--worker-id {}, or a token of its own",
                                    name_, name_, name_, name_));
    }
  } else if (message->has_sync()) {
    return CheckRunningTasks("Sync.running", message->sync().running_size());
  } else if (message->has_result()) {
    BoundResult(message->mutable_result());
  }
  return absl::OkStatus();
}

absl::Status SessionLimits::Enter(const std::string& token_name) {
  std::lock_guard lock(mutex_);
  if (all_ >= kMostSessions) {
    return ResourceExhausted(
        fmt::format("{} workers' sessions are open, which is the most there can be", kMostSessions));
  }
  if (!token_name.empty()) {
    int& own = by_name_[token_name];
    if (own >= kMostSessionsOfAToken) {
      return ResourceExhausted(
          fmt::format("{} sessions with the token of {} are open, which is the most there can be; give each node its "
                      "own token",
                      kMostSessionsOfAToken, token_name));
    }
    ++own;
  }
  ++all_;
  return absl::OkStatus();
}

void SessionLimits::Leave(const std::string& token_name) {
  std::lock_guard lock(mutex_);
  --all_;
  if (token_name.empty()) return;
  const auto own = by_name_.find(token_name);
  if (own != by_name_.end() && --own->second == 0) by_name_.erase(own);
}

}  // namespace warpsmith::api
