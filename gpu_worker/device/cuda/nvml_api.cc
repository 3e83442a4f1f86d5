#include "gpu_worker/device/cuda/nvml_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cctype>

#include "common/file.h"

namespace warpsmith::cuda {
namespace {

constexpr const char* kPlaces[] = {"libnvidia-ml.so.1",
                                   "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
                                   "/usr/local/nvidia/lib/libnvidia-ml.so.1",
                                   "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                                   "/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.1",
                                   "/usr/lib64/libnvidia-ml.so.1",
                                   "/usr/lib/wsl/lib/libnvidia-ml.so.1"};

// The first of the names that the library has.
template <typename Function>
void Find(void* library, Function& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function != nullptr) return;
  }
}

absl::StatusOr<NvmlApi> LoadTable() {
  void* library = nullptr;
  for (const char* place : kPlaces) {
    library = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) return NotFound("libnvidia-ml.so.1 (NVML, part of the NVIDIA driver) is not here");
  NvmlApi api;
  Find(library, api.init, {"nvmlInit_v2"});
  Find(library, api.error_string, {"nvmlErrorString"});
  Find(library, api.driver_version, {"nvmlSystemGetDriverVersion"});
  Find(library, api.handle_by_uuid, {"nvmlDeviceGetHandleByUUID"});
  Find(library, api.clock, {"nvmlDeviceGetClockInfo"});
  Find(library, api.max_clock, {"nvmlDeviceGetMaxClockInfo"});
  Find(library, api.temperature, {"nvmlDeviceGetTemperature"});
  Find(library, api.power, {"nvmlDeviceGetPowerUsage"});
  Find(library, api.power_limit, {"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"});
  Find(library, api.throttle_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  Find(library, api.memory, {"nvmlDeviceGetMemoryInfo"});
  Find(library, api.processes, {"nvmlDeviceGetComputeRunningProcesses_v3"});
  Find(library, api.ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
  Find(library, api.remapped_rows, {"nvmlDeviceGetRemappedRows"});
  Find(library, api.compute_mode, {"nvmlDeviceGetComputeMode"});
  Find(library, api.mig_mode, {"nvmlDeviceGetMigMode"});
  Find(library, api.event_set_create, {"nvmlEventSetCreate"});
  Find(library, api.register_events, {"nvmlDeviceRegisterEvents"});
  Find(library, api.event_wait, {"nvmlEventSetWait_v2"});
  Find(library, api.event_set_free, {"nvmlEventSetFree"});
  if (api.init == nullptr || api.error_string == nullptr || api.driver_version == nullptr ||
      api.handle_by_uuid == nullptr) {
    return NotFound("libnvidia-ml.so.1 lacks functions that every NVML has; the driver is broken or very old");
  }
  if (int result = api.init(); result != nvml::kSuccess) return api.Error(result, "starting NVML");
  return api;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue ...": the first word like a version.
std::string FromKernelModule() {
  absl::StatusOr<std::string> text = ReadFile("/proc/driver/nvidia/version", 4096);
  if (!text.ok()) return "";
  std::string word;
  for (char c : *text + " ") {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      word += c;
      continue;
    }
    const bool digits = !word.empty() && word.find_first_not_of("0123456789.") == std::string::npos;
    if (digits && word.find('.') != std::string::npos) return word;
    word.clear();
  }
  return "";
}

}  // namespace

absl::StatusOr<const NvmlApi*> NvmlApi::Load() {
  static const absl::StatusOr<NvmlApi> kTable = LoadTable();
  if (!kTable.ok()) return kTable.status();
  return &*kTable;
}

absl::Status NvmlApi::Error(int result, std::string_view what) const {
  if (result == nvml::kSuccess) return absl::OkStatus();
  const char* text = error_string(result);
  return Unavailable(fmt::format("{}: NVML: {} ({})", what, text == nullptr ? "unknown error" : text, result));
}

absl::StatusOr<nvml::Device> NvmlDevice(const NvmlApi& api, const std::string& uuid) {
  nvml::Device device = nullptr;
  WARPSMITH_RETURN_IF_ERROR(api.Error(api.handle_by_uuid(uuid.c_str(), &device), "the GPU " + uuid));
  return device;
}

std::string DriverVersion() {
  absl::StatusOr<const NvmlApi*> api = NvmlApi::Load();
  char text[96] = "";
  if (api.ok() && (*api)->driver_version(text, sizeof text - 1) == nvml::kSuccess && text[0] != '\0') return text;
  return FromKernelModule();
}

double PowerLimitWatts(const std::string& uuid) {
  absl::StatusOr<const NvmlApi*> api = NvmlApi::Load();
  if (!api.ok() || (*api)->power_limit == nullptr) return 0;
  absl::StatusOr<nvml::Device> device = NvmlDevice(**api, uuid);
  unsigned milliwatts = 0;
  if (!device.ok() || (*api)->power_limit(*device, &milliwatts) != nvml::kSuccess) return 0;
  return milliwatts / 1e3;
}

}  // namespace warpsmith::cuda
