// What a worker's session may send: as whom, and how much. And how many sessions there may be.
// Threading: a WorkerGate belongs to its session's reads, one at a time; SessionLimits is safe from any thread.
// Errors: InvalidArgument and ResourceExhausted name the field and the limit; PermissionDenied, Unauthenticated.
#ifndef WARPSMITH_COORDINATOR_API_WORKER_GATE_H_
#define WARPSMITH_COORDINATOR_API_WORKER_GATE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/access.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::api {

inline constexpr int kMostRunningTasks = 1024;
inline constexpr size_t kLargestHello = 256u << 10;
inline constexpr size_t kLargestDevice = 16u << 10;
inline constexpr size_t kLargestResult = 4u << 20;
inline constexpr int kMostSessions = 4096;
inline constexpr int kMostSessionsOfAToken = 64;  // a node has fewer GPUs

class WorkerGate {
 public:
  // `access` null: no tokens are in use, and every worker may use every id.
  WorkerGate(std::shared_ptr<const AccessControl> access, std::string authorization);

  // An error ends the session. A result over its limit becomes an infra_error that says so, which ends its task's
  // attempt; the worker would otherwise send it for ever.
  absl::Status Check(v1::WorkerMessage* message);

 private:
  absl::Status CheckToken();

  const std::shared_ptr<const AccessControl> access_;
  const std::string authorization_;
  int64_t generation_ = -1;  // of the tokens, when this one was last found among them
  std::string name_;         // the token's
};

class SessionLimits {
 public:
  // `token_name` empty: no tokens are in use.
  absl::Status Enter(const std::string& token_name);
  void Leave(const std::string& token_name);

 private:
  std::mutex mutex_;
  int all_ = 0;                         // guarded by mutex_
  std::map<std::string, int> by_name_;  // guarded by mutex_
};

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_WORKER_GATE_H_
