#include "gpu_worker/profile/step_events.h"

namespace warpsmith::profile {

StepEvents::~StepEvents() {
  for (CUevent event : events_) api_.cuEventDestroy(event);
}

absl::Status StepEvents::Record() {
  CUevent event = nullptr;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate"));
  events_.push_back(event);
  return cuda::CudaStatus(api_, api_.cuEventRecord(event, stream_), "cuEventRecord");
}

absl::StatusOr<std::vector<double>> StepEvents::Milliseconds() {
  std::vector<double> times;
  if (events_.empty()) return times;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuEventSynchronize(events_.back()), "running the plan"));
  for (size_t i = 1; i < events_.size(); ++i) {
    float elapsed = 0;
    WARPSMITH_RETURN_IF_ERROR(
        cuda::CudaStatus(api_, api_.cuEventElapsedTime(&elapsed, events_[i - 1], events_[i]), "cuEventElapsedTime"));
    times.push_back(elapsed);
  }
  return times;
}

}  // namespace warpsmith::profile
