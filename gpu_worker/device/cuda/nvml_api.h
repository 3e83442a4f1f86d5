// NVIDIA's management library, loaded at run time. Toolkits do not always carry its header, so what is used of its
// published interface is declared here.
// Threading: the library may be called from any thread. Errors: NotFound without the library.
// Source: NVML API reference (structures and numbers of functions ending in _v2 and _v3).
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_NVML_API_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_NVML_API_H_

#include <string>
#include <string_view>

#include "common/status.h"

namespace warpsmith::cuda {

namespace nvml {

using Device = struct nvmlDevice_st*;
using EventSet = struct nvmlEventSet_st*;

inline constexpr int kSuccess = 0;
inline constexpr int kTimeout = 10;
inline constexpr unsigned kSmClock = 1;
inline constexpr unsigned kMemoryClock = 2;
inline constexpr unsigned kGpuTemperature = 0;
inline constexpr unsigned kUncorrectedErrors = 1;
inline constexpr unsigned kSinceBoot = 0;
inline constexpr unsigned long long kXidCriticalError = 8;

struct Memory {
  unsigned long long total, free, used;
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

struct EventData {
  Device device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

}  // namespace nvml

// Every member may be null but the first four: older libraries and some sandboxes lack functions.
struct NvmlApi {
  int (*init)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*handle_by_uuid)(const char*, nvml::Device*) = nullptr;
  int (*clock)(nvml::Device, unsigned, unsigned*) = nullptr;
  int (*max_clock)(nvml::Device, unsigned, unsigned*) = nullptr;
  int (*temperature)(nvml::Device, unsigned, unsigned*) = nullptr;
  int (*power)(nvml::Device, unsigned*) = nullptr;        // mW
  int (*power_limit)(nvml::Device, unsigned*) = nullptr;  // mW
  int (*throttle_reasons)(nvml::Device, unsigned long long*) = nullptr;
  int (*memory)(nvml::Device, nvml::Memory*) = nullptr;
  int (*processes)(nvml::Device, unsigned*, nvml::ProcessInfo*) = nullptr;
  int (*ecc_errors)(nvml::Device, unsigned, unsigned, unsigned long long*) = nullptr;
  int (*remapped_rows)(nvml::Device, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
  int (*compute_mode)(nvml::Device, unsigned*) = nullptr;
  int (*mig_mode)(nvml::Device, unsigned*, unsigned*) = nullptr;
  int (*event_set_create)(nvml::EventSet*) = nullptr;
  int (*register_events)(nvml::Device, unsigned long long, nvml::EventSet) = nullptr;
  int (*event_wait)(nvml::EventSet, nvml::EventData*, unsigned milliseconds) = nullptr;
  int (*event_set_free)(nvml::EventSet) = nullptr;

  // Loaded and initialised once a process; later calls give the same answer.
  static absl::StatusOr<const NvmlApi*> Load();
  absl::Status Error(int result, std::string_view what) const;
};

absl::StatusOr<nvml::Device> NvmlDevice(const NvmlApi& api, const std::string& uuid);

// "580.159.04", from NVML or the kernel module; empty where neither tells.
std::string DriverVersion();
// 0 where NVML does not tell.
double PowerLimitWatts(const std::string& uuid);

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_NVML_API_H_
