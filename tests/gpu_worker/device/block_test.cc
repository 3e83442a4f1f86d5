#include "gpu_worker/device/emulated/block.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace warpsmith::device {
namespace {

namespace emulated = warpsmith_emulated;

LaneRequest Sync(uint32_t mask) { return {emulated::kWarpSync, mask, 0, 0, 32}; }

TEST_CASE("an order is a permutation, and seeds differ") {
  std::set<std::vector<uint64_t>> seen;
  for (uint64_t count : {1u, 2u, 31u, 64u, 1000u}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Order order(count, seed);
      std::vector<uint64_t> values;
      for (uint64_t i = 0; i < count; ++i) values.push_back(order.Next());
      if (seed == 0) REQUIRE(values.front() == 0);
      if (count == 1000) seen.insert(values);
      REQUIRE(std::set<uint64_t>(values.begin(), values.end()).size() == count);
      REQUIRE(*std::max_element(values.begin(), values.end()) == count - 1);
    }
  }
  REQUIRE(seen.size() >= 18);
  Order huge(uint64_t{1} << 63, 77);
  for (int i = 0; i < 1000; ++i) REQUIRE(huge.Next() < uint64_t{1} << 63);
}

TEST_CASE("a barrier opens with the last live thread") {
  Block block;
  block.Reset({0, 0, 0}, 3, 0);
  REQUIRE(!block.ArriveAtBarrier(0, 1));
  REQUIRE(!block.ArriveAtBarrier(1, 0));
  REQUIRE(!block.HasReady());
  REQUIRE(block.ArriveAtBarrier(2, 1));
  REQUIRE(block.TakeReady() == 0);
  REQUIRE(block.TakeReady() == 1);
  REQUIRE(!block.HasReady());
  REQUIRE(block.BarrierResult(emulated::kBarrierCount) == 2);
  REQUIRE(block.BarrierResult(emulated::kBarrierAnd) == 0);
  REQUIRE(block.BarrierResult(emulated::kBarrierOr) == 1);
  // The end of one that never comes opens it too.
  REQUIRE(!block.ArriveAtBarrier(0, 0));
  REQUIRE(!block.ArriveAtBarrier(2, 0));
  block.End(1);
  REQUIRE(block.TakeReady() == 0);
  REQUIRE(block.TakeReady() == 2);
}

TEST_CASE("a warp's operation completes when all lanes of the mask are there with the same one") {
  Block block;
  block.Reset({0, 0, 0}, 40, 0);
  REQUIRE(!block.ArriveAtWarp(0, Sync(0x7)));
  REQUIRE(!block.ArriveAtWarp(1, Sync(0x3)));  // another mask
  REQUIRE(!block.ArriveAtWarp(2, Sync(0x7)));
  REQUIRE_THAT(block.Describe(), Catch::Contains("2 wait at __syncwarp with mask 0x00000007"));
  // Lane 1 can never take part in the others' operation; its end frees them.
  block.End(1);
  REQUIRE(block.HasReady());
  // The second warp has eight lanes: those that are not there are not waited for.
  for (uint32_t thread = 32; thread < 39; ++thread) REQUIRE(!block.ArriveAtWarp(thread, Sync(~0u)));
  REQUIRE(block.ArriveAtWarp(39, Sync(~0u)));
  REQUIRE(block.ArriveAtWarp(33, Sync(1u << 1)));  // alone
}

TEST_CASE("active lanes are those that ask when nothing else can run") {
  Block block;
  block.Reset({0, 0, 0}, 32, 0);
  LaneRequest ask{emulated::kActiveMask, 0, 0, 0, 32};
  REQUIRE(!block.ResolveActiveMasks());
  REQUIRE(!block.ArriveAtWarp(4, ask));
  REQUIRE(!block.ArriveAtWarp(7, ask));
  REQUIRE(block.ResolveActiveMasks());
  REQUIRE(block.WarpResult(4) == 0x90);
  REQUIRE(block.WarpResult(7) == 0x90);
}

}  // namespace
}  // namespace warpsmith::device
