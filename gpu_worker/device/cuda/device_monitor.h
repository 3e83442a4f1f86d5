// How a GPU is doing right now: clocks, heat, power, memory, who else computes on it.
// Threading: safe from any thread. Units: as the names say.
// Errors: where NVML is not there at all; a single figure that it does not give (some sandboxes) is left unset.
// Source: NVML API reference (clock event reasons).
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_DEVICE_MONITOR_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_DEVICE_MONITOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"

namespace warpsmith::cuda {

// Why clocks are lower than they could be: bits of DeviceState::throttle_reasons.
inline constexpr uint64_t kThrottleIdle = 0x1;
inline constexpr uint64_t kThrottleApplicationClocks = 0x2;
inline constexpr uint64_t kThrottlePowerCap = 0x4;  // at its power limit: what heavy kernels meet every time
inline constexpr uint64_t kThrottleHardware = 0x8;  // one of the next three, or the power supply
inline constexpr uint64_t kThrottleSyncBoost = 0x10;
inline constexpr uint64_t kThrottleSoftwareThermal = 0x20;
inline constexpr uint64_t kThrottleHardwareThermal = 0x40;
inline constexpr uint64_t kThrottlePowerBrake = 0x80;
inline constexpr uint64_t kThrottleDisplayClocks = 0x100;
inline constexpr uint64_t kThrottleThermal = kThrottleSoftwareThermal | kThrottleHardwareThermal;

struct GpuProcess {
  int pid = 0;
  std::optional<int64_t> memory_bytes;
};

struct DeviceState {
  std::optional<int> sm_mhz;
  std::optional<int> max_sm_mhz;
  std::optional<int> memory_mhz;
  std::optional<int> max_memory_mhz;
  std::optional<int> temperature_c;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;
  std::optional<uint64_t> throttle_reasons;
  std::optional<int64_t> memory_free_bytes;
  std::optional<int64_t> memory_total_bytes;
  // Compute processes that are neither this one nor started by it. In a container of its own process numbers, others'
  // numbers say nothing here, and all of them count.
  std::optional<std::vector<GpuProcess>> other_processes;
  std::optional<int64_t> uncorrected_ecc_errors;  // since boot
  std::optional<bool> row_remap_failed;           // memory is beyond repair
  std::optional<bool> row_remap_pending;          // a reset is due
  std::optional<bool> exclusive_compute_mode;     // one process at a time may use the GPU: ours need two
  std::optional<bool> mig;

  bool Has(uint64_t reasons) const { return throttle_reasons.has_value() && (*throttle_reasons & reasons) != 0; }
};

// "power cap, thermal (software)"; empty for none.
std::string ThrottleText(uint64_t reasons);

class DeviceMonitor {
 public:
  virtual ~DeviceMonitor() = default;
  virtual absl::StatusOr<DeviceState> Read() = 0;
  // sm_mhz, max_sm_mhz and throttle_reasons only: cheap enough around every batch of samples.
  virtual absl::StatusOr<DeviceState> ReadClocks() = 0;
};

// NotFound without NVML.
absl::StatusOr<std::unique_ptr<DeviceMonitor>> MakeNvmlMonitor(const std::string& gpu_uuid);

// Says what a test tells it to.
class FakeDeviceMonitor final : public DeviceMonitor {
 public:
  absl::StatusOr<DeviceState> Read() override { return Answer(); }
  absl::StatusOr<DeviceState> ReadClocks() override { return Answer(); }

  DeviceState state;
  absl::Status error;  // instead, where not OK
  int reads = 0;

 private:
  absl::StatusOr<DeviceState> Answer() {
    ++reads;
    if (!error.ok()) return error;
    return state;
  }
};

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_DEVICE_MONITOR_H_
