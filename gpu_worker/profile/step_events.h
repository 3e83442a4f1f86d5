// Events on a stream and the times between them.
// Threading: the thread of the current context. Units: milliseconds. Errors: as CudaStatus.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_STEP_EVENTS_H_
#define WARPSMITH_GPU_WORKER_PROFILE_STEP_EVENTS_H_

#include <vector>

#include "gpu_worker/device/cuda/driver_api.h"

namespace warpsmith::profile {

class StepEvents {
 public:
  StepEvents(const cuda::DriverApi& api, CUstream stream) : api_(api), stream_(stream) {}
  ~StepEvents();
  StepEvents(const StepEvents&) = delete;
  StepEvents& operator=(const StepEvents&) = delete;

  absl::Status Record();
  // Waits for the last event; one time for each two neighbours.
  absl::StatusOr<std::vector<double>> Milliseconds();

 private:
  const cuda::DriverApi& api_;
  const CUstream stream_;
  std::vector<CUevent> events_;
};

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_STEP_EVENTS_H_
