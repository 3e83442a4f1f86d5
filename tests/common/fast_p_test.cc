#include "common/fast_p.h"

#include <catch2/catch.hpp>

namespace warpsmith {
namespace {

TEST_CASE("fast_p counts all problems and what is strictly above p", "[unit]") {
  CHECK(FastP({0.5, 1.0, 1.5, 3.0}, 8, 0.0) == 0.5);
  CHECK(FastP({0.5, 1.0, 1.5, 3.0}, 8, 1.0) == 0.25);
  CHECK(FastP({0.5, 1.0, 1.5, 3.0}, 8, 1.5) == 0.125);
  CHECK(FastP({}, 8, 0) == 0);
  CHECK(FastP({}, 0, 0) == 0);
}

TEST_CASE("a correct kernel without a baseline is correct and no faster", "[unit]") {
  CHECK(FastP({0, 2.0}, 4, 0) == 0.5);
  CHECK(FastP({0, 2.0}, 4, 0.5) == 0.25);
}

TEST_CASE("ratios to other baselines go by way of eager", "[unit]") {
  // Eager took 3 ms at intake; beside the kernel of 1 ms it was 3.3 times as slow.
  CHECK(RatioToBaseline(1.5, 3, 1, 3.3) == Approx(1.65));
  CHECK(RatioToBaseline(1.5, 0, 1, 3.3) == Approx(1.5));
  CHECK(RatioToBaseline(1.5, 3, 1, 0) == Approx(1.5));
  CHECK(RatioToBaseline(0, 3, 1, 3.3) == 0);
  CHECK(RatioToBaseline(1.5, 3, 0, 3.3) == 0);
}

}  // namespace
}  // namespace warpsmith
