#include "gpu_worker/device/cuda/device_monitor.h"

#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <utility>

#include "common/file.h"
#include "gpu_worker/device/cuda/nvml_api.h"

namespace warpsmith::cuda {
namespace {

constexpr std::pair<uint64_t, const char*> kReasons[] = {
    {kThrottleIdle, "idle"},
    {kThrottleApplicationClocks, "clocks set by the operator"},
    {kThrottlePowerCap, "power cap"},
    {kThrottleHardware, "hardware slowdown"},
    {kThrottleSyncBoost, "sync boost"},
    {kThrottleSoftwareThermal, "heat (software)"},
    {kThrottleHardwareThermal, "heat (hardware)"},
    {kThrottlePowerBrake, "power brake"},
    {kThrottleDisplayClocks, "display clocks"},
};

constexpr unsigned kExclusiveThread = 1;
constexpr unsigned kProhibited = 2;
constexpr unsigned kExclusiveProcess = 3;

// The fourth field of /proc/PID/stat, after the name in brackets; 0 where there is no such process.
int ParentOf(int pid) {
  absl::StatusOr<std::string> stat = ReadFile("/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!stat.ok()) return 0;
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= stat->size()) return 0;
  return std::atoi(stat->c_str() + name_end + 4);
}

bool IsOurs(int pid) {
  const int self = getpid();
  for (int depth = 0; pid > 1 && depth < 16; ++depth) {
    if (pid == self) return true;
    pid = ParentOf(pid);
  }
  return false;
}

class NvmlMonitor final : public DeviceMonitor {
 public:
  NvmlMonitor(const NvmlApi& api, nvml::Device device)
      : api_(api), device_(device), max_sm_mhz_(Number<int>(api_.max_clock, nvml::kSmClock)) {}

  absl::StatusOr<DeviceState> ReadClocks() override {
    DeviceState state;
    state.sm_mhz = Number<int>(api_.clock, nvml::kSmClock);
    state.max_sm_mhz = max_sm_mhz_;
    unsigned long long reasons = 0;
    if (api_.throttle_reasons != nullptr && api_.throttle_reasons(device_, &reasons) == nvml::kSuccess) {
      state.throttle_reasons = reasons;
    }
    return state;
  }

  absl::StatusOr<DeviceState> Read() override {
    WARPSMITH_ASSIGN_OR_RETURN(DeviceState state, ReadClocks());
    state.memory_mhz = Number<int>(api_.clock, nvml::kMemoryClock);
    state.max_memory_mhz = Number<int>(api_.max_clock, nvml::kMemoryClock);
    state.temperature_c = Number<int>(api_.temperature, nvml::kGpuTemperature);
    state.power_w = Watts(api_.power);
    state.power_limit_w = Watts(api_.power_limit);
    nvml::Memory memory{};
    if (api_.memory != nullptr && api_.memory(device_, &memory) == nvml::kSuccess) {
      state.memory_free_bytes = static_cast<int64_t>(memory.free);
      state.memory_total_bytes = static_cast<int64_t>(memory.total);
    }
    state.other_processes = OtherProcesses();
    unsigned long long errors = 0;
    if (api_.ecc_errors != nullptr &&
        api_.ecc_errors(device_, nvml::kUncorrectedErrors, nvml::kSinceBoot, &errors) == nvml::kSuccess) {
      state.uncorrected_ecc_errors = static_cast<int64_t>(errors);
    }
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (api_.remapped_rows != nullptr &&
        api_.remapped_rows(device_, &corrected, &uncorrected, &pending, &failed) == nvml::kSuccess) {
      state.row_remap_pending = pending != 0;
      state.row_remap_failed = failed != 0;
    }
    unsigned mode = 0;
    if (api_.compute_mode != nullptr && api_.compute_mode(device_, &mode) == nvml::kSuccess) {
      state.exclusive_compute_mode = mode == kExclusiveThread || mode == kProhibited || mode == kExclusiveProcess;
    }
    unsigned current = 0, after_reset = 0;
    if (api_.mig_mode != nullptr && api_.mig_mode(device_, &current, &after_reset) == nvml::kSuccess) {
      state.mig = current != 0;
    }
    return state;
  }

 private:
  template <typename T>
  std::optional<T> Number(int (*function)(nvml::Device, unsigned, unsigned*), unsigned which) const {
    unsigned value = 0;
    if (function == nullptr || function(device_, which, &value) != nvml::kSuccess) return std::nullopt;
    return static_cast<T>(value);
  }

  std::optional<double> Watts(int (*function)(nvml::Device, unsigned*)) const {
    unsigned milliwatts = 0;
    if (function == nullptr || function(device_, &milliwatts) != nvml::kSuccess) return std::nullopt;
    return milliwatts / 1e3;
  }

  std::optional<std::vector<GpuProcess>> OtherProcesses() const {
    if (api_.processes == nullptr) return std::nullopt;
    nvml::ProcessInfo found[64];
    unsigned count = std::size(found);
    const int result = api_.processes(device_, &count, found);
    if (result != nvml::kSuccess) return std::nullopt;
    std::vector<GpuProcess> others;
    for (unsigned i = 0; i < count; ++i) {
      if (IsOurs(static_cast<int>(found[i].pid))) continue;
      GpuProcess process;
      process.pid = static_cast<int>(found[i].pid);
      if (found[i].used_memory != ~0ULL) process.memory_bytes = static_cast<int64_t>(found[i].used_memory);
      others.push_back(process);
    }
    return others;
  }

  const NvmlApi& api_;
  nvml::Device const device_;
  const std::optional<int> max_sm_mhz_;  // the card's own, which is not asked for again: each call costs
};

}  // namespace

std::string ThrottleText(uint64_t reasons) {
  std::string text;
  for (const auto& [bit, name] : kReasons) {
    if ((reasons & bit) != 0) text.append(text.empty() ? "" : ", ").append(name);
    reasons &= ~bit;
  }
  if (reasons != 0) text.append(text.empty() ? "" : ", ").append("other");
  return text;
}

absl::StatusOr<std::unique_ptr<DeviceMonitor>> MakeNvmlMonitor(const std::string& gpu_uuid) {
  WARPSMITH_ASSIGN_OR_RETURN(const NvmlApi* api, NvmlApi::Load());
  WARPSMITH_ASSIGN_OR_RETURN(nvml::Device device, NvmlDevice(*api, gpu_uuid));
  return std::make_unique<NvmlMonitor>(*api, device);
}

}  // namespace warpsmith::cuda
