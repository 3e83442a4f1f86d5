// Tells samples that were taken on a slowed-down device, so that they are taken again after a pause; a bounded number
// of times, after which samples are kept and flagged: a result is never empty.
// A device at its power limit is not slowed down: the kernel itself does that, every time.
// Threading: one thread. Units: MHz.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_THROTTLE_GATE_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_THROTTLE_GATE_H_

#include "common/clock.h"
#include "gpu_worker/evaluate/device_guard.h"

namespace warpsmith::evaluate {

class ThrottleGate {
 public:
  // `guard` null: a device that does not throttle.
  ThrottleGate(DeviceGuard* guard, Clock& clock) : guard_(guard), clock_(clock) {}

  // Before and after a batch of samples.
  void Begin();
  enum class Verdict { kGood, kTakeAgain, kGaveUp };
  Verdict End();

  // The clock after the last batch; 0: unknown.
  double sm_mhz() const { return sm_mhz_; }
  double ReadMhz();

 private:
  bool Slowed();

  DeviceGuard* const guard_;
  Clock& clock_;
  bool slowed_before_ = false;
  int pauses_ = 0;
  double sm_mhz_ = 0;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_THROTTLE_GATE_H_
