// Whether a GPU may be given to the next candidate: a state machine without clocks or devices of its own, fed with what
// was seen. Nothing here resets a GPU; that is the operator's to do.
//
//   healthy --a candidate crashed or hung, an Xid that a program can cause--> suspect --canary passed--> healthy
//   suspect --canary failed several times in a row, or gave a wrong result, or an Xid of the hardware--> retired
//   any --a process could not be killed, or hung in the driver--> wedged --it went, and the canary passed--> healthy
//
// Retired is final for the life of this object. Threading: one thread at a time.
// Source: NVIDIA's Xid catalogue; where it and common practice disagree, what a timing service can afford.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_HEALTH_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_HEALTH_H_

#include <string>
#include <string_view>

#include "common/status.h"

namespace warpsmith::cuda {

enum class GpuHealth { kHealthy, kSuspect, kWedged, kRetired };
std::string_view GpuHealthName(GpuHealth health);

// What the driver's error number says about who caused it.
enum class XidVerdict {
  kInformation,  // nothing to do
  kCandidate,    // the program's own fault: the canary decides whether the GPU took harm
  kRetry,        // the program was stopped without fault of its own; what it did is to be done again
  kRetire,       // the GPU or its firmware: an operator must look at it
};
XidVerdict JudgeXid(int xid);
// "Xid 48 (double-bit memory error)".
std::string XidText(int xid);

// How an executor's process ended.
enum class ExecutorEnd {
  kClean,       // it said a result and left
  kAbnormal,    // it crashed, was stopped at its limit, or its context was lost
  kUnkillable,  // still there a bounded time after SIGKILL
};

struct HealthOptions {
  int canary_failures_to_retire = 3;  // in a row
};

class GpuHealthTracker {
 public:
  explicit GpuHealthTracker(HealthOptions options = {}) : options_(options) {}

  // `what`: for people, such as "the executor was killed at its limit".
  void OnExecutorEnd(ExecutorEnd end, std::string_view what);
  // False where the candidate that was running is not to blame and must be run again.
  bool OnXid(int xid);
  // A process that could not be killed has gone.
  void OnUnkillableGone();
  // A status of Canary::Check: DataLoss is a wrong result, Aborted a canary that could not be killed, OutOfRange one
  // that was right but slow.
  void OnCanary(const absl::Status& result);
  // Memory that cannot be repaired, and the like.
  void Retire(std::string_view reason);

  GpuHealth health() const { return health_; }
  bool canary_due() const { return health_ == GpuHealth::kSuspect; }
  // Why it is not healthy; empty when it is.
  const std::string& reason() const { return reason_; }
  // OK where work may go to the GPU now; else state, reason and remedy: Unavailable where it is suspect,
  // FailedPrecondition where it is wedged, DataLoss where it is retired.
  absl::Status MayUse() const;

 private:
  void Suspect(std::string_view reason);
  void Wedge(std::string_view reason);

  const HealthOptions options_;
  GpuHealth health_ = GpuHealth::kHealthy;
  std::string reason_;
  int canary_failures_ = 0;
};

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_HEALTH_H_
