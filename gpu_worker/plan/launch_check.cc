#include "gpu_worker/plan/launch_check.h"

#include <fmt/format.h>

#include "gpu_worker/plan/plan_error.h"

namespace warpsmith::plan {
namespace {

constexpr std::array<int64_t, 3> kMaxGrid = {INT32_MAX, 65535, 65535};
constexpr std::array<int64_t, 3> kMaxBlock = {1024, 1024, 64};
constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kMaxClusterBlocks = 8;

template <typename... Arguments>
absl::Status LimitError(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return PlanError(reason::kLimits, fmt::format(format, std::forward<Arguments>(arguments)...));
}

absl::Status CheckSides(const char* field, const std::array<int64_t, 3>& sides, const std::array<int64_t, 3>& most) {
  for (size_t i = 0; i < 3; ++i) {
    if (sides[i] < 1 || sides[i] > most[i]) {
      return LimitError("{}[{}]: {} is out of range: 1 to {}", field, i, sides[i], most[i]);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCluster(const LaunchSizes& sizes, const DeviceLimits& limits) {
  if (limits.compute_capability < 90) {
    return LimitError("cluster: needs sm_90 or later; here it is sm_{}{}", limits.compute_capability,
                      limits.emulated ? " (state \"min_arch\": \"sm_90\")" : "");
  }
  int64_t product = 1;
  for (size_t i = 0; i < sizes.cluster.size(); ++i) {
    product *= sizes.cluster[i];
    if (sizes.cluster[i] < 1 || product > kMaxClusterBlocks) {
      return LimitError("cluster: at most {} blocks in all", kMaxClusterBlocks);
    }
    if (sizes.grid[i] % sizes.cluster[i] != 0) {
      return LimitError("cluster[{}]: {} does not divide the grid's {} blocks", i, sizes.cluster[i], sizes.grid[i]);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCooperative(const LaunchSizes& sizes, int64_t threads, const KernelInterface& kernel,
                              const DeviceLimits& limits) {
  const int64_t resident = BlocksPerMultiprocessor(limits, kernel, threads, sizes.shared_bytes) * limits.sm_count;
  int64_t blocks = 0;
  if (__builtin_mul_overflow(sizes.grid[0] * sizes.grid[1], sizes.grid[2], &blocks) || blocks > resident) {
    return LimitError("grid: a cooperative launch of {}x{}x{} blocks, but only {} fit the device at once ({} SMs)",
                      sizes.grid[0], sizes.grid[1], sizes.grid[2], resident, limits.sm_count);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLaunch(const LaunchSizes& sizes, const KernelInterface& kernel, const DeviceLimits& limits) {
  WARPSMITH_RETURN_IF_ERROR(CheckSides("grid", sizes.grid, kMaxGrid));
  WARPSMITH_RETURN_IF_ERROR(CheckSides("block", sizes.block, kMaxBlock));
  const int64_t threads = sizes.block[0] * sizes.block[1] * sizes.block[2];
  if (threads > kMaxThreads) return LimitError("block: {} threads; at most {} allowed", threads, kMaxThreads);
  if (threads > kernel.max_threads_per_block) {
    return LimitError("block: {} threads, but {} takes at most {} (its launch bounds and {} registers a thread)",
                      threads, kernel.plan_name, kernel.max_threads_per_block, kernel.registers);
  }
  if (sizes.shared_bytes < 0 || sizes.shared_bytes > limits.shared_opt_in_bytes - kernel.static_shared_bytes) {
    return LimitError("shared_bytes: {} and the kernel's static {} are out of range: 0 to {} bytes in all",
                      sizes.shared_bytes, kernel.static_shared_bytes, limits.shared_opt_in_bytes);
  }
  if (kernel.static_shared_bytes > limits.static_shared_bytes) {
    return LimitError("kernel: {} bytes of static shared memory; at most {} allowed, the rest has to be dynamic",
                      kernel.static_shared_bytes, limits.static_shared_bytes);
  }
  if (!sizes.cluster.empty()) WARPSMITH_RETURN_IF_ERROR(CheckCluster(sizes, limits));
  if (sizes.cooperative) return CheckCooperative(sizes, threads, kernel, limits);
  return absl::OkStatus();
}

}  // namespace warpsmith::plan
