#include "gpu_worker/profile/occupancy.h"

#include <catch2/catch.hpp>

using warpsmith::profile::BlockResources;
using warpsmith::profile::BlocksThatFit;
using warpsmith::profile::MultiprocessorLimits;
using warpsmith::profile::OccupancyLimiter;

namespace {
const MultiprocessorLimits kH200;
// An L40S: fewer threads, blocks and shared memory.
const MultiprocessorLimits kL40s = {1536, 24, 65536, 102400, 1024};
}  // namespace

TEST_CASE("What limits occupancy is the resource that runs out first", "[unit]") {
  SECTION("registers") {
    CHECK(BlocksThatFit(kH200, {256, 128, 0}) == 2);
    CHECK(OccupancyLimiter(kH200, {256, 128, 0}) == "registers");
  }
  SECTION("shared memory") {
    CHECK(BlocksThatFit(kH200, {128, 32, 100 << 10}) == 2);
    CHECK(OccupancyLimiter(kH200, {128, 32, 100 << 10}) == "shared_memory");
  }
  SECTION("threads") {
    CHECK(BlocksThatFit(kH200, {1024, 32, 0}) == 2);
    CHECK(OccupancyLimiter(kH200, {1024, 32, 0}) == "threads");
  }
  SECTION("blocks") {
    CHECK(BlocksThatFit(kH200, {32, 32, 0}) == 32);
    CHECK(OccupancyLimiter(kH200, {32, 32, 0}) == "blocks");
  }
}

TEST_CASE("Registers are given to warps in steps of 256, a partition at a time", "[unit]") {
  // 40 registers: 1280 a warp, 12 warps in a partition's 16384, 48 in all.
  CHECK(BlocksThatFit(kH200, {128, 40, 0}) == 12);
  CHECK(BlocksThatFit(kH200, {128, 41, 0}) == 10);  // 1536 a warp: 10 a partition, 40 warps
  CHECK(OccupancyLimiter(kH200, {128, 41, 0}) == "registers");
}

TEST_CASE("Each block pays for the shared memory that the runtime reserves", "[unit]") {
  // 228 KiB hold 2 blocks of 113 KiB with 1 KiB each, not 2 of 114.
  CHECK(BlocksThatFit(kH200, {128, 32, 113 << 10}) == 2);
  CHECK(BlocksThatFit(kH200, {128, 32, 114 << 10}) == 1);
}

TEST_CASE("Another device, other limits", "[unit]") {
  CHECK(BlocksThatFit(kL40s, {1024, 32, 0}) == 1);
  CHECK(OccupancyLimiter(kL40s, {1024, 32, 0}) == "threads");
  CHECK(BlocksThatFit(kL40s, {256, 64, 48 << 10}) == 2);
  CHECK(OccupancyLimiter(kL40s, {256, 64, 48 << 10}) == "shared_memory");
}
