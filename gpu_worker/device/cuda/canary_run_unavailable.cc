#include "gpu_worker/device/cuda/canary_run.h"

namespace warpsmith::cuda {

absl::StatusOr<CanaryFigures> RunCanary() {
  return FailedPrecondition("this warpsmith was built without CUDA's headers and cannot use GPUs; build it with them");
}

}  // namespace warpsmith::cuda
