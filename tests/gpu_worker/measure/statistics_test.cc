#include "gpu_worker/measure/statistics.h"

#include <catch2/catch.hpp>

namespace warpsmith::measure {
namespace {

TEST_CASE("median and spread of samples in any order", "[unit]") {
  Summary s = Summarize({4, 1, 3, 2, 5});
  CHECK(s.median == 3);
  CHECK(s.spread == Approx(2.0 / 3));
  CHECK(s.samples == 5);
  CHECK(Summarize({1, 2, 3, 4}).median == 2.5);
}

TEST_CASE("one outlier moves neither", "[unit]") {
  Summary s = Summarize({1, 1, 1, 1, 1, 1, 1, 1000});
  CHECK(s.median == 1);
  CHECK(s.spread == 0);
}

TEST_CASE("few samples", "[unit]") {
  CHECK(Summarize({}).samples == 0);
  CHECK(Summarize({}).median == 0);
  CHECK(Summarize({2}).median == 2);
  CHECK(Summarize({2}).spread == 0);
}

}  // namespace
}  // namespace warpsmith::measure
