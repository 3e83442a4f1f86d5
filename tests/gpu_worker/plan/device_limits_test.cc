#include "gpu_worker/plan/device_limits.h"

#include <catch2/catch.hpp>

namespace warpsmith::plan {
namespace {

TEST_CASE("figures per architecture", "[unit]") {
  struct Row {
    int number, sm_count;
    int64_t opt_in;
    int threads, blocks;
  };
  for (const Row& row : {Row{80, 108, 166912, 2048, 32}, Row{86, 72, 101376, 1536, 16}, Row{89, 142, 101376, 1536, 24},
                         Row{90, 132, 232448, 2048, 32}, Row{100, 148, 232448, 2048, 32}}) {
    INFO(row.number);
    const DeviceLimits limits = DeviceLimits::ForArchitecture(row.number);
    CHECK(limits.compute_capability == row.number);
    CHECK(limits.sm_count == row.sm_count);
    CHECK(limits.shared_opt_in_bytes == row.opt_in);
    CHECK(limits.threads_per_sm == row.threads);
    CHECK(limits.blocks_per_sm == row.blocks);
    CHECK(limits.static_shared_bytes == 49152);
    CHECK_FALSE(limits.emulated);
  }
}

TEST_CASE("an unknown architecture has the figures of the nearest below", "[unit]") {
  CHECK(DeviceLimits::ForArchitecture(101).shared_opt_in_bytes == 232448);
  CHECK(DeviceLimits::ForArchitecture(101).compute_capability == 101);
  CHECK(DeviceLimits::ForArchitecture(121).shared_opt_in_bytes == 101376);
  CHECK(DeviceLimits::ForArchitecture(50).shared_opt_in_bytes == 65536);
}

TEST_CASE("the emulated device stands for min_arch, or sm_80", "[unit]") {
  DeviceLimits limits = DeviceLimits::Emulated(std::nullopt);
  CHECK(limits.emulated);
  CHECK(limits.compute_capability == 80);
  CHECK(limits.sm_count == 4);
  CHECK(limits.shared_opt_in_bytes == 166912);
  limits = DeviceLimits::Emulated(Architecture{90, 'a'});
  CHECK(limits.compute_capability == 90);
  CHECK(limits.shared_opt_in_bytes == 232448);
}

// Expected figures by hand from the programming guide's limits.
TEST_CASE("blocks that fit a multiprocessor", "[unit]") {
  const DeviceLimits h100 = DeviceLimits::ForArchitecture(90), l40s = DeviceLimits::ForArchitecture(89);
  KernelInterface kernel;
  CHECK(BlocksPerMultiprocessor(h100, kernel, 32, 0) == 32);  // the most blocks
  CHECK(BlocksPerMultiprocessor(l40s, kernel, 32, 0) == 24);
  CHECK(BlocksPerMultiprocessor(h100, kernel, 1, 0) == 32);
  CHECK(BlocksPerMultiprocessor(h100, kernel, 1024, 0) == 2);  // 2048 threads
  CHECK(BlocksPerMultiprocessor(l40s, kernel, 1024, 0) == 1);  // 1536 threads
  CHECK(BlocksPerMultiprocessor(h100, kernel, 33, 0) == 32);   // two warps
  CHECK(BlocksPerMultiprocessor(h100, kernel, 128, 100 << 10) == 2);
  CHECK(BlocksPerMultiprocessor(h100, kernel, 128, 227 << 10) == 1);
  CHECK(BlocksPerMultiprocessor(h100, kernel, 128, 228 << 10) == 0);
  CHECK(BlocksPerMultiprocessor(h100, kernel, 0, 0) == 0);
  kernel.registers = 255;  // 8160, rounded to 8192 a warp: two warps for each of four schedulers
  CHECK(BlocksPerMultiprocessor(h100, kernel, 256, 0) == 1);
  CHECK(BlocksPerMultiprocessor(h100, kernel, 128, 0) == 2);
  CHECK(BlocksPerMultiprocessor(h100, kernel, 512, 0) == 0);
  kernel.registers = 32;
  CHECK(BlocksPerMultiprocessor(h100, kernel, 1024, 0) == 2);
  kernel.static_shared_bytes = 48 << 10;
  CHECK(BlocksPerMultiprocessor(h100, kernel, 128, 0) == 4);
}

}  // namespace
}  // namespace warpsmith::plan
