#include "gpu_worker/device/cuda/device_query.h"

namespace warpsmith::cuda {

absl::StatusOr<std::vector<GpuDevice>> ListGpus() {
  return FailedPrecondition("this warpsmith was built without CUDA's headers and cannot use GPUs; build it with them");
}

}  // namespace warpsmith::cuda
