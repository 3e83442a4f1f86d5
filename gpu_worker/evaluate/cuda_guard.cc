#include "gpu_worker/evaluate/cuda_guard.h"

#include "gpu_worker/device/cuda/gpu_lock.h"

namespace warpsmith::evaluate {

CudaGuard::CudaGuard(std::string gpu_uuid, std::unique_ptr<cuda::DeviceMonitor> monitor,
                     std::unique_ptr<cuda::Canary> canary, std::unique_ptr<cuda::XidWatch> xids, Duration lock_deadline)
    : gpu_uuid_(std::move(gpu_uuid)),
      monitor_(std::move(monitor)),
      canary_(std::move(canary)),
      xids_(std::move(xids)),
      keeper_(*canary_, xids_.get()),
      lock_deadline_(lock_deadline) {}

absl::StatusOr<std::shared_ptr<void>> CudaGuard::Lock() {
  WARPSMITH_ASSIGN_OR_RETURN(cuda::GpuLock lock, cuda::GpuLock::Acquire(gpu_uuid_, lock_deadline_));
  return std::shared_ptr<void>(std::make_shared<cuda::GpuLock>(std::move(lock)));
}

absl::StatusOr<ClockReading> CudaGuard::ReadClocks() {
  ClockReading reading;
  if (monitor_ == nullptr) return reading;
  absl::StatusOr<cuda::DeviceState> read = monitor_->ReadClocks();
  if (!read.ok()) return read.status();
  const cuda::DeviceState& state = *read;
  reading.sm_mhz = state.sm_mhz.value_or(0);
  reading.max_sm_mhz = state.max_sm_mhz.value_or(0);
  reading.thermal = state.Has(cuda::kThrottleThermal);
  reading.power_brake = state.Has(cuda::kThrottlePowerBrake);
  // Clocks that an operator has set are as steady as a limit.
  reading.power_cap = state.Has(cuda::kThrottlePowerCap | cuda::kThrottleApplicationClocks);
  reading.idle = state.Has(cuda::kThrottleIdle);
  return reading;
}

bool CudaGuard::OnEnd(CandidateEnd end, const std::string& what) {
  switch (end) {
    case CandidateEnd::kClean:
      return keeper_.OnExecutorEnd(cuda::ExecutorEnd::kClean, what);
    case CandidateEnd::kAbnormal:
      return keeper_.OnExecutorEnd(cuda::ExecutorEnd::kAbnormal, what);
    case CandidateEnd::kUnkillable:
      return keeper_.OnExecutorEnd(cuda::ExecutorEnd::kUnkillable, what);
  }
  return true;
}

}  // namespace warpsmith::evaluate
