// The canary itself, in the process that it may take along: on device 0 of this process's environment.
// Threading: once a process. Errors: DataLoss for a wrong result, else what failed.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_CANARY_RUN_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_CANARY_RUN_H_

#include "gpu_worker/device/cuda/canary.h"

namespace warpsmith::cuda {

absl::StatusOr<CanaryFigures> RunCanary();

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_CANARY_RUN_H_
