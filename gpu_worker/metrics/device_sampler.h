// Looks at a GPU every few seconds, in a thread of its own: a driver that does not answer holds nobody up, and its last
// figures grow too old to be shown. Threading: safe from any thread. Units: as the names say.
#ifndef WARPSMITH_GPU_WORKER_METRICS_DEVICE_SAMPLER_H_
#define WARPSMITH_GPU_WORKER_METRICS_DEVICE_SAMPLER_H_

#include <memory>
#include <optional>

#include "common/clock.h"
#include "gpu_worker/device/cuda/device_monitor.h"

namespace warpsmith::metrics {

struct DeviceSample {
  std::optional<bool> throttled;  // for heat or by the power supply
  std::optional<double> celsius, watts, used_bytes;
};

DeviceSample SampleOf(const cuda::DeviceState& state);

class DeviceSampler {
 public:
  // `monitor` may be null: nothing is known.
  explicit DeviceSampler(std::unique_ptr<cuda::DeviceMonitor> monitor, Duration interval = std::chrono::seconds(5));
  ~DeviceSampler();  // leaves a thread behind that hangs in the driver
  DeviceSampler(const DeviceSampler&) = delete;
  DeviceSampler& operator=(const DeviceSampler&) = delete;

  // Empty where the last look is too old or told nothing.
  DeviceSample Last() const;

 private:
  struct State;
  static void Loop(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_GPU_WORKER_METRICS_DEVICE_SAMPLER_H_
