#include "gpu_worker/profile/occupancy.h"

#include <algorithm>
#include <climits>

namespace warpsmith::profile {
namespace {

constexpr int kWarp = 32;
constexpr int kPartitions = 4;             // of a multiprocessor; each has its share of the registers
constexpr int kRegisterGranularity = 256;  // registers are given to a warp in such steps
constexpr int64_t kSharedGranularity = 128;

int RoundUp(int value, int step) { return (value + step - 1) / step * step; }

struct Fits {
  int registers;
  int shared_memory;
  int threads;
  int blocks;
};

Fits Compute(const MultiprocessorLimits& limits, const BlockResources& block) {
  const int warps = std::max(1, RoundUp(std::max(block.threads, 1), kWarp) / kWarp);
  Fits fits{INT_MAX, INT_MAX, limits.threads / (warps * kWarp), limits.blocks};
  if (block.registers_per_thread > 0) {
    const int of_a_warp = RoundUp(block.registers_per_thread * kWarp, kRegisterGranularity);
    const int warps_that_fit = limits.registers / kPartitions / of_a_warp * kPartitions;
    fits.registers = warps_that_fit / warps;
  }
  const int64_t shared = (block.shared_bytes + limits.reserved_shared_bytes_per_block + kSharedGranularity - 1) /
                         kSharedGranularity * kSharedGranularity;
  // Without any of its own, the runtime's reservation never binds before the number of blocks does.
  if (block.shared_bytes > 0 && shared > 0) fits.shared_memory = static_cast<int>(limits.shared_bytes / shared);
  return fits;
}

int Least(const Fits& fits) { return std::min({fits.registers, fits.shared_memory, fits.threads, fits.blocks}); }

}  // namespace

std::string OccupancyLimiter(const MultiprocessorLimits& limits, const BlockResources& block) {
  const Fits fits = Compute(limits, block);
  const int least = Least(fits);
  // At full occupancy nothing but the number of threads holds it back.
  if (fits.threads == least) return "threads";
  if (fits.registers == least) return "registers";
  if (fits.shared_memory == least) return "shared_memory";
  return "blocks";
}

int BlocksThatFit(const MultiprocessorLimits& limits, const BlockResources& block) {
  return std::max(0, Least(Compute(limits, block)));
}

}  // namespace warpsmith::profile
