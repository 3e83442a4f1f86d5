#include "gpu_worker/device/emulated/warp_operations.h"

#include <catch2/catch.hpp>

namespace warpsmith::device {
namespace {

namespace emulated = warpsmith_emulated;

std::array<uint64_t, 32> Resolve(uint32_t operation, uint32_t lanes, uint32_t operand, uint32_t width,
                                 uint64_t (*value)(uint32_t)) {
  std::array<LaneRequest, 32> requests;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    requests[lane] = {operation, lanes, value(lane), operand, width};
  }
  std::array<uint64_t, 32> results;
  results.fill(0x5555);
  ResolveWarpOperation(requests, lanes, results);
  return results;
}

uint64_t Hundreds(uint32_t lane) { return 100 + lane; }

TEST_CASE("shuffles stay within their segment") {
  auto down = Resolve(emulated::kShuffleDown, ~0u, 3, 8, Hundreds);
  REQUIRE(down[0] == 103);
  REQUIRE(down[4] == 107);
  REQUIRE(down[5] == 105);  // would leave the segment: its own
  auto up = Resolve(emulated::kShuffleUp, ~0u, 2, 32, Hundreds);
  REQUIRE(up[0] == 100);
  REQUIRE(up[2] == 100);
  REQUIRE(up[31] == 129);
  auto index = Resolve(emulated::kShuffleIndex, ~0u, 9, 8, Hundreds);
  REQUIRE(index[0] == 101);
  REQUIRE(index[31] == 125);
  auto xored = Resolve(emulated::kShuffleXor, ~0u, 16, 16, Hundreds);
  REQUIRE(xored[3] == 103);
  REQUIRE(xored[19] == 103);  // a lower segment may be read, as on a GPU
}

TEST_CASE("a lane that does not take part gives all ones, and gets nothing") {
  auto results = Resolve(emulated::kShuffleXor, 0x0000ffff, 16, 32, Hundreds);
  REQUIRE(results[3] == ~uint64_t{0});
  REQUIRE(results[19] == 0x5555);
}

TEST_CASE("votes and reductions cover the lanes that take part") {
  auto odd = [](uint32_t lane) { return uint64_t{lane % 2}; };
  REQUIRE(Resolve(emulated::kBallot, 0xff, 0, 32, odd)[2] == 0xaa);
  REQUIRE(Resolve(emulated::kVoteAll, 0xaa, 0, 32, odd)[1] == 1);
  REQUIRE(Resolve(emulated::kVoteAll, 0xab, 0, 32, odd)[1] == 0);
  REQUIRE(Resolve(emulated::kVoteAny, 0x55, 0, 32, odd)[0] == 0);
  auto negative = [](uint32_t lane) { return uint64_t{static_cast<uint32_t>(5 - static_cast<int>(lane))}; };
  REQUIRE(static_cast<int32_t>(Resolve(emulated::kReduceMinSigned, 0xff, 0, 32, negative)[0]) == -2);
  REQUIRE(static_cast<int32_t>(Resolve(emulated::kReduceMaxSigned, 0xff, 0, 32, negative)[0]) == 5);
  REQUIRE(Resolve(emulated::kReduceMaxUnsigned, 0xff, 0, 32, negative)[0] == 0xffffffff);
  REQUIRE(Resolve(emulated::kReduceMinUnsigned, 0xff, 0, 32, negative)[0] == 0);
  REQUIRE(Resolve(emulated::kReduceAdd, 0xff, 0, 32, negative)[0] == 12);
  REQUIRE(Resolve(emulated::kReduceXor, 0x7, 0, 32, Hundreds)[0] == (100 ^ 101 ^ 102));
  REQUIRE(Resolve(emulated::kMatchAll, 0x7, 0, 32, Hundreds)[0] == 0);
  auto same = [](uint32_t) { return uint64_t{9}; };
  REQUIRE(Resolve(emulated::kMatchAll, 0x7, 0, 32, same)[0] == 7);
  REQUIRE(Resolve(emulated::kMatchAny, 0xf0, 0, 32, odd)[5] == 0xa0);
}

}  // namespace
}  // namespace warpsmith::device
