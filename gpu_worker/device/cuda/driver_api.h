// CUDA's driver library, loaded at run time, so that one build serves machines with and without a GPU.
// Only where CUDA's headers were found at build time (cmake: WARPSMITH_CUDA_INCLUDE).
// Threading: Load is safe from any thread; the table is constant. Errors: NotFound where there is no driver, with what
// was tried; FailedPrecondition for a driver that lacks a function that is needed.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_DRIVER_API_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_DRIVER_API_H_

#include <cuda.h>

#include <string>
#include <string_view>

#include "common/status.h"

namespace warpsmith::cuda {

struct DriverApi {
#define FUNCTION(name) decltype(&::name) name = nullptr;
#include "gpu_worker/device/cuda/driver_functions.inc"
// Null where the driver is older than the function.
#include "gpu_worker/device/cuda/optional_driver_functions.inc"
#undef FUNCTION

  // Once a process; later calls give the same answer.
  static absl::StatusOr<const DriverApi*> Load();
};

// "GPU-..." as NVML and CUDA_VISIBLE_DEVICES have it.
std::string UuidText(const CUuuid& uuid);

// OK, ResourceExhausted for CUDA's "out of memory", Unavailable where no device answers, else Internal:
// "cuMemAlloc of x: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
absl::Status CudaStatus(const DriverApi& api, CUresult result, std::string_view what);

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_DRIVER_API_H_
