// Who is told when the device is taken and given back, and when a candidate takes its executor down, for metrics.
// Threading: called by whoever has the device's turn, one thread at a time; implementations must not wait.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_EVALUATION_OBSERVER_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_EVALUATION_OBSERVER_H_

#include <string>

namespace warpsmith::evaluate {

class EvaluationObserver {
 public:
  virtual ~EvaluationObserver() = default;
  virtual void OnDeviceTaken() {}
  virtual void OnDeviceFreed() {}
  // `outcome`: timeout, illegal_access, launch_error or infra_error.
  virtual void OnExecutorLost(const std::string& /*outcome*/) {}

  static EvaluationObserver& None() {
    static EvaluationObserver none;
    return none;
  }
};

// The device is taken as long as it lives.
class DeviceHold {
 public:
  explicit DeviceHold(EvaluationObserver& observer) : observer_(observer) { observer_.OnDeviceTaken(); }
  ~DeviceHold() { observer_.OnDeviceFreed(); }
  DeviceHold(const DeviceHold&) = delete;
  DeviceHold& operator=(const DeviceHold&) = delete;

 private:
  EvaluationObserver& observer_;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_EVALUATION_OBSERVER_H_
