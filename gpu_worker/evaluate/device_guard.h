// What a real device needs besides work: nobody else on it while something is timed, clocks to look at, and somebody
// who says after a crash whether it can be trusted again. Threading: called by whoever holds the device's turn, one
// thread at a time. Errors: what is wrong with the machine, for the operator.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_DEVICE_GUARD_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_DEVICE_GUARD_H_

#include <memory>
#include <string>

#include "common/status.h"

namespace warpsmith::evaluate {

struct ClockReading {
  double sm_mhz = 0;  // 0: unknown
  double max_sm_mhz = 0;
  bool thermal = false;      // slowed down for heat
  bool power_brake = false;  // slowed down by the power supply's signal
  bool power_cap = false;    // at its power limit: what a heavy kernel always meets
  bool idle = false;         // nothing ran when it was read, and its clock says nothing
};

enum class CandidateEnd {
  kClean,
  kAbnormal,    // it crashed, was stopped at its limit, or its context was lost
  kUnkillable,  // its process is still there a bounded time after SIGKILL
};

class DeviceGuard {
 public:
  virtual ~DeviceGuard() = default;
  // Nobody else of this machine times on the device until the result goes.
  virtual absl::StatusOr<std::shared_ptr<void>> Lock() = 0;
  virtual absl::StatusOr<ClockReading> ReadClocks() = 0;
  // OK where the next candidate may have the device. After an abnormal end a kernel with a known result and time runs.
  virtual absl::Status Ready() = 0;
  // False where the candidate is not to blame for how it ended.
  virtual bool OnEnd(CandidateEnd end, const std::string& what) = 0;
  // A process that could not be ended has gone.
  virtual void OnUnkillableGone() = 0;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_DEVICE_GUARD_H_
