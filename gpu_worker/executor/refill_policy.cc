#include "gpu_worker/executor/refill_policy.h"

#include <algorithm>

namespace warpsmith::executor {
namespace {

constexpr int64_t kLargeGpuBytes = int64_t{64} << 30;
constexpr int kLargeDepth = 8, kSmallDepth = 4;
// More side by side only queue up in the driver.
constexpr int kMostAtOnce = 6;
constexpr int kCoresEach = 4;

}  // namespace

RefillLimits RefillLimits::ForGpu(int64_t gpu_bytes, int cores) {
  RefillLimits limits;
  limits.depth = gpu_bytes >= kLargeGpuBytes ? kLargeDepth : kSmallDepth;
  limits.at_once = std::clamp(cores / kCoresEach, 1, std::min(kMostAtOnce, limits.depth));
  return limits;
}

RefillPolicy::RefillPolicy(RefillLimits limits) : limits_(limits) {
  limits_.depth = std::max(limits_.depth, 0);
  limits_.at_once = std::max(limits_.at_once, 1);
}

int RefillPolicy::ToStart(const PoolState& state) const {
  const int there = state.ready + state.warming;
  // Whoever waits gets one in any case.
  const int needed = std::max(state.waiting - there, 0);
  if (state.quiet) return needed;
  const int missing = std::max(limits_.depth, state.waiting) - there;
  const int room = limits_.at_once - state.warming;
  // A batch that is not whole costs the next timing as long a wait as a whole one.
  if (!limits_.can_hold && there > 0 && missing < std::min(limits_.at_once, limits_.depth)) return needed;
  return std::max(std::min(missing, room), needed);
}

bool RefillPolicy::MustHold(const PoolState& state) const {
  return limits_.can_hold && state.quiet && state.waiting <= state.ready;
}

bool RefillPolicy::IsStill(const PoolState& state, int moving) const {
  return limits_.can_hold ? moving == 0 : state.warming == 0;
}

}  // namespace warpsmith::executor
