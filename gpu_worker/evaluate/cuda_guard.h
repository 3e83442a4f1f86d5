// DeviceGuard of one NVIDIA GPU: NVML's clocks and events, the canary program, a lock file that all processes of this
// user share.
// Threading: as DeviceGuard.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_CUDA_GUARD_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_CUDA_GUARD_H_

#include <memory>
#include <string>

#include "common/clock.h"
#include "gpu_worker/device/cuda/canary.h"
#include "gpu_worker/device/cuda/device_monitor.h"
#include "gpu_worker/device/cuda/gpu_keeper.h"
#include "gpu_worker/device/cuda/xid_watch.h"
#include "gpu_worker/evaluate/device_guard.h"

namespace warpsmith::evaluate {

class CudaGuard final : public DeviceGuard {
 public:
  // `monitor` and `xids` may be null, where there is no NVML: clocks are taken on trust then.
  CudaGuard(std::string gpu_uuid, std::unique_ptr<cuda::DeviceMonitor> monitor, std::unique_ptr<cuda::Canary> canary,
            std::unique_ptr<cuda::XidWatch> xids, Duration lock_deadline = std::chrono::minutes(10));

  absl::StatusOr<std::shared_ptr<void>> Lock() override;
  absl::StatusOr<ClockReading> ReadClocks() override;
  absl::Status Ready() override { return keeper_.Ready(); }
  bool OnEnd(CandidateEnd end, const std::string& what) override;
  void OnUnkillableGone() override { keeper_.OnUnkillableGone(); }

 private:
  const std::string gpu_uuid_;
  const std::unique_ptr<cuda::DeviceMonitor> monitor_;
  const std::unique_ptr<cuda::Canary> canary_;
  const std::unique_ptr<cuda::XidWatch> xids_;
  cuda::GpuKeeper keeper_;
  const Duration lock_deadline_;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_CUDA_GUARD_H_
