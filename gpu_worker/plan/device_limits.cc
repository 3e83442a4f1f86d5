#include "gpu_worker/plan/device_limits.h"

#include <algorithm>

namespace warpsmith::plan {
namespace {

struct Row {
  int compute_capability;
  int sm_count;
  int64_t shared_opt_in_kib;
  int64_t shared_per_sm_kib;
  int32_t threads_per_sm;
  int32_t blocks_per_sm;
};

// By compute capability, ascending.
constexpr Row kRows[] = {
    {75, 40, 64, 64, 1024, 16},     {80, 108, 163, 164, 2048, 32},  {86, 72, 99, 100, 1536, 16},
    {87, 16, 163, 164, 1536, 16},   {89, 142, 99, 100, 1536, 24},   {90, 132, 227, 228, 2048, 32},
    {100, 148, 227, 228, 2048, 32}, {103, 148, 227, 228, 2048, 32}, {110, 20, 227, 228, 1536, 24},
    {120, 170, 99, 100, 1536, 24},
};

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

DeviceLimits DeviceLimits::ForArchitecture(int compute_capability) {
  const Row* row = &kRows[0];
  for (const Row& candidate : kRows) {
    if (candidate.compute_capability <= compute_capability) row = &candidate;
  }
  DeviceLimits limits;
  limits.compute_capability = compute_capability;
  limits.sm_count = row->sm_count;
  limits.shared_opt_in_bytes = row->shared_opt_in_kib << 10;
  limits.shared_per_sm_bytes = row->shared_per_sm_kib << 10;
  limits.shared_reserved_bytes = row->compute_capability >= 80 ? 1 << 10 : 0;
  limits.threads_per_sm = row->threads_per_sm;
  limits.blocks_per_sm = row->blocks_per_sm;
  return limits;
}

DeviceLimits DeviceLimits::Emulated(const std::optional<Architecture>& min_arch) {
  DeviceLimits limits = ForArchitecture(min_arch.has_value() ? min_arch->number : 80);
  limits.emulated = true;
  limits.memory_budget_bytes = int64_t{1} << 30;
  limits.sm_count = 4;
  return limits;
}

int64_t BlocksPerMultiprocessor(const DeviceLimits& limits, const KernelInterface& kernel, int64_t threads,
                                int64_t dynamic_shared_bytes) {
  if (threads < 1) return 0;
  const int64_t warps = RoundUp(threads, 32) / 32;
  int64_t blocks = std::min<int64_t>(limits.blocks_per_sm, limits.threads_per_sm / 32 / warps);
  const int64_t shared = kernel.static_shared_bytes + dynamic_shared_bytes;
  const int64_t shared_block = RoundUp(shared + limits.shared_reserved_bytes, 128);
  if (shared_block > 0) blocks = std::min(blocks, limits.shared_per_sm_bytes / shared_block);
  if (kernel.registers > 0) {
    // Registers are given to warps in units of 256, and each of four schedulers has a quarter of them.
    const int64_t warp_registers = RoundUp(int64_t{kernel.registers} * 32, 256);
    const int64_t resident_warps = limits.registers_per_sm / 4 / warp_registers * 4;
    blocks = std::min(blocks, resident_warps / warps);
  }
  return blocks;
}

}  // namespace warpsmith::plan
