// The part of `warpsmith doctor` that is about GPUs: driver, each GPU and a known kernel on it, hardware counters,
// NVIDIA's libraries.
// Threading: one thread. The canary runs on each GPU for about a second; nothing else is changed.
#ifndef WARPSMITH_CLI_DOCTOR_GPU_H_
#define WARPSMITH_CLI_DOCTOR_GPU_H_

#include <filesystem>
#include <string>
#include <vector>

#include "cli/doctor.h"
#include "common/json.h"
#include "gpu_worker/device/cuda/gpu_probe.h"

namespace warpsmith::cli {

struct GpuDiagnosis {
  std::vector<Finding> findings;  // at least one, "gpu"
  Json gpus = Json::array();      // each as GpuReportToJson, with "canary": figures or {"error"}
};

// `device_files`: whether this machine has NVIDIA's device files at all.
GpuDiagnosis DiagnoseGpus(cuda::GpuProbe& probe, bool device_files);

// Whether this process's children may read hardware counters. `parameters`: the driver's file of its own settings.
Finding CheckCounters(const std::filesystem::path& parameters, bool administrator);

// cuBLAS, cuDNN and CUPTI, where workers look for them.
std::vector<Finding> CheckLibraries();

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_DOCTOR_GPU_H_
