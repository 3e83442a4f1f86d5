// One oracle process and its JSON-lines protocol: a request, progress lines, one reply.
// Threading: one thread at a time. Errors: DeadlineExceeded (the process is killed), Unavailable (it died); either
// leaves a channel that only says so.
#ifndef WARPSMITH_GPU_WORKER_REFERENCE_ORACLE_CHANNEL_H_
#define WARPSMITH_GPU_WORKER_REFERENCE_ORACLE_CHANNEL_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/child_process.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/json.h"
#include "common/status.h"

namespace warpsmith::reference {

struct OracleProcessOptions {
  std::string python;                              // absolute path
  std::string device = "cpu";                      // or cuda:0
  std::map<std::string, std::string> environment;  // beside PythonEnvironment's
  uint64_t memory_bytes = 0;                       // of the host; without a GPU only
  int64_t reserve_bytes = 0;                       // of the GPU, left to others
  int threads = 1;
};

class OracleChannel {
 public:
  // Launch and Greet.
  static absl::StatusOr<std::unique_ptr<OracleChannel>> Start(const OracleProcessOptions& options);
  // The process without waiting for it: importing PyTorch takes seconds. It leaves a GPU alone until it is greeted.
  static absl::StatusOr<std::unique_ptr<OracleChannel>> Launch(const OracleProcessOptions& options);
  // Has it make its context and use everything once, without waiting for that. What goes wrong, Greet tells.
  void BeginGreeting();
  // Waits until it answers. Once, before the first Call.
  absl::Status Greet();

  // The reply, an error of the oracle's among them: see ErrorOf.
  absl::StatusOr<Json> Call(const Json& request, Duration deadline);

  bool alive() const { return child_ != nullptr; }
  int process_id() const { return child_ != nullptr ? static_cast<int>(child_->pid()) : -1; }
  // What ran last, by the oracle's own word: import, no_model, inputs, forward, judging, timing; empty before that.
  const std::string& stage() const { return stage_; }
  // How the process ended, once a call said that it did.
  const std::optional<ChildExit>& exit() const { return exit_; }

 private:
  explicit OracleChannel(TemporaryDirectory home) : home_(std::move(home)) {}
  absl::Status End(const absl::Status& why);
  absl::Status Send(const Json& request, Duration deadline);
  absl::StatusOr<Json> Receive(TimePoint end);

  TemporaryDirectory home_;
  std::unique_ptr<ChildProcess> child_;
  std::optional<ChildExit> exit_;
  std::string stage_;
  absl::Status greeting_;  // how writing it went
  bool greeted_ = false;   // it was written
};

// OK for a reply; else its kind as a code: request and the kinds of a refused problem InvalidArgument, order
// FailedPrecondition, memory ResourceExhausted, anything else Internal.
absl::Status ErrorOf(const Json& reply);

}  // namespace warpsmith::reference

#endif  // WARPSMITH_GPU_WORKER_REFERENCE_ORACLE_CHANNEL_H_
