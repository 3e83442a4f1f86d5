// What a kernel's launch takes of a multiprocessor: registers, memory, occupancy and what limits it.
// Threading: the thread of the current context. Units: bytes; occupancy 0 to 1. Errors: as CudaStatus.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_LAUNCH_RESOURCES_H_
#define WARPSMITH_GPU_WORKER_PROFILE_LAUNCH_RESOURCES_H_

#include "gpu_worker/executor/cuda/context.h"
#include "gpu_worker/profile/occupancy.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::profile {

struct DeviceShape {
  int processors = 0;
  MultiprocessorLimits limits;
};
DeviceShape ReadDeviceShape(const executor::CudaContext& context);

// Fills the step's grid, block, registers, memory, blocks_per_sm, occupancy, occupancy_limiter and waves.
absl::Status DescribeLaunch(const cuda::DriverApi& api, const DeviceShape& device, const v1::KernelLaunch& launch,
                            CUfunction function, v1::ProfileStep* step);

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_LAUNCH_RESOURCES_H_
