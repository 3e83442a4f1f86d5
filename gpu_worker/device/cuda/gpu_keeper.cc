#include "gpu_worker/device/cuda/gpu_keeper.h"

#include "common/log.h"

namespace warpsmith::cuda {

GpuKeeper::GpuKeeper(Canary& canary, XidWatch* xids, HealthOptions options)
    : canary_(canary), xids_(xids), tracker_(options) {}

bool GpuKeeper::TakeXids() {
  bool blame = true;
  if (xids_ == nullptr) return blame;
  for (const int xid : xids_->Poll()) {
    spdlog::warn("the driver reports {}", XidText(xid));
    blame = tracker_.OnXid(xid) && blame;
  }
  return blame;
}

absl::Status GpuKeeper::Ready() {
  const std::lock_guard lock(mutex_);
  TakeXids();
  if (tracker_.canary_due()) {
    const absl::Status result = canary_.Check();
    TakeXids();
    tracker_.OnCanary(result);
    if (!result.ok()) spdlog::warn("the canary failed: {}", Message(result));
  }
  return tracker_.MayUse();
}

bool GpuKeeper::OnExecutorEnd(ExecutorEnd end, std::string_view what) {
  const std::lock_guard lock(mutex_);
  const bool blame = TakeXids();
  tracker_.OnExecutorEnd(end, what);
  return blame;
}

void GpuKeeper::OnUnkillableGone() {
  const std::lock_guard lock(mutex_);
  tracker_.OnUnkillableGone();
}

GpuHealth GpuKeeper::health() const {
  const std::lock_guard lock(mutex_);
  return tracker_.health();
}

std::string GpuKeeper::reason() const {
  const std::lock_guard lock(mutex_);
  return tracker_.reason();
}

}  // namespace warpsmith::cuda
