// Keeps one GPU fit for candidates: takes in how executors ended and what the driver reported, runs the canary when it
// is due, and says whether the next candidate may have the GPU.
// Threading: safe from any thread; Ready may take as long as a canary. Errors: as
// GpuHealthTracker::MayUse.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_GPU_KEEPER_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_GPU_KEEPER_H_

#include <mutex>
#include <string>
#include <string_view>

#include "common/status.h"
#include "gpu_worker/device/cuda/canary.h"
#include "gpu_worker/device/cuda/health.h"
#include "gpu_worker/device/cuda/xid_watch.h"

namespace warpsmith::cuda {

class GpuKeeper {
 public:
  // `xids` may be null, where there are no events.
  GpuKeeper(Canary& canary, XidWatch* xids, HealthOptions options = {});

  // Before the GPU is given to a candidate. A failed canary is tried again at the next call, until the GPU is retired.
  absl::Status Ready();

  // After an executor has ended. False where the candidate is not to blame for how it ended: run it again.
  bool OnExecutorEnd(ExecutorEnd end, std::string_view what);
  void OnUnkillableGone();

  GpuHealth health() const;
  std::string reason() const;

 private:
  bool TakeXids();  // with mutex_ held

  Canary& canary_;
  XidWatch* const xids_;
  mutable std::mutex mutex_;
  GpuHealthTracker tracker_;  // guarded by mutex_
};

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_GPU_KEEPER_H_
