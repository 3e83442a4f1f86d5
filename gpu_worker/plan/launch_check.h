// Launch sizes against a kernel and a device. Threading: pure functions. Units: bytes, threads, blocks.
// Errors: plan errors with reason limits whose message begins with the field's name.
#ifndef WARPSMITH_GPU_WORKER_PLAN_LAUNCH_CHECK_H_
#define WARPSMITH_GPU_WORKER_PLAN_LAUNCH_CHECK_H_

#include <array>
#include <cstdint>
#include <vector>

#include "common/status.h"
#include "gpu_worker/plan/device_limits.h"
#include "gpu_worker/plan/kernel_interface.h"

namespace warpsmith::plan {

struct LaunchSizes {
  std::array<int64_t, 3> grid{1, 1, 1};
  std::array<int64_t, 3> block{1, 1, 1};
  int64_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<int64_t> cluster;  // empty: none
};

absl::Status CheckLaunch(const LaunchSizes& sizes, const KernelInterface& kernel, const DeviceLimits& limits);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_LAUNCH_CHECK_H_
