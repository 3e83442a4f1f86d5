#include "llm_gateway/limits/rate_window.h"

#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <utility>

using namespace warpsmith;
using namespace warpsmith::gateway;

namespace {
TimePoint At(double seconds) { return TimePoint(FromSeconds(1000 + seconds)); }
}  // namespace

TEST_CASE("a window holds the limit and empties after a minute", "[unit]") {
  RateWindow window;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(window.Fits(At(i), 1, 3));
    window.Take(At(i), 1);
  }
  CHECK_FALSE(window.Fits(At(3), 1, 3));
  CHECK(window.WhenFits(At(3), 1, 3) == At(60.25));
  CHECK_FALSE(window.Fits(At(60.2), 1, 3));
  CHECK(window.Fits(At(60.25), 1, 3));
  CHECK_FALSE(window.Fits(At(60.25), 2, 3));
  CHECK(window.WhenFits(At(60.25), 2, 3) == At(61.25));
  CHECK(window.Fits(At(3), 1e9, 0));
  // Behind five others: when the window after the next is open.
  CHECK(window.WhenFits(At(3), 1, 3, 5) == At(122.25));
}

TEST_CASE("an amount above the limit passes alone and counts for as long as it is large", "[unit]") {
  RateWindow window;
  REQUIRE(window.Fits(At(0), 250, 100));
  window.Take(At(0), 250);
  CHECK_FALSE(window.Fits(At(149), 1, 100));
  CHECK(window.Fits(At(150.25), 1, 100));
  window.Take(At(200), 1);
  CHECK_FALSE(window.Fits(At(201), 250, 100));
  CHECK(window.WhenFits(At(201), 250, 100) == At(260.25));
  // Less than one a minute: one every so many minutes.
  RateWindow slow;
  slow.Take(At(0), 1);
  CHECK_FALSE(slow.Fits(At(239), 1, 0.25));
  CHECK(slow.Fits(At(240.25), 1, 0.25));
}

TEST_CASE("what was estimated is corrected", "[unit]") {
  RateWindow window;
  window.Take(At(0), 90);
  CHECK_FALSE(window.Fits(At(10), 50, 100));
  window.Correct(At(0), 90, 20, At(10));
  CHECK(window.Fits(At(10), 80, 100));
  CHECK_FALSE(window.Fits(At(10), 81, 100));
  window.Correct(At(0), 20, 60, At(11));
  CHECK_FALSE(window.Fits(At(11), 41, 100));
  // Gone from the window: what came on top counts from now.
  CHECK(window.Fits(At(100), 100, 100));
  window.Correct(At(0), 60, 70, At(100));
  CHECK_FALSE(window.Fits(At(101), 91, 100));
  CHECK(window.Fits(At(101), 90, 100));
}

TEST_CASE("no minute holds more than the limit, whatever comes", "[unit]") {
  std::mt19937 random(3);
  RateWindow window;
  constexpr double kLimit = 1000;
  std::deque<std::pair<double, double>> passed;
  double now = 0, sum = 0, total = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += std::uniform_real_distribution<double>(0, 0.2)(random);
    double amount = std::uniform_real_distribution<double>(0.1, 120)(random);
    if (!window.Fits(At(now), amount, kLimit)) continue;
    window.Take(At(now), amount);
    passed.emplace_back(now, amount);
    sum += amount;
    total += amount;
    while (passed.front().first <= now - 60) {
      sum -= passed.front().second;
      passed.pop_front();
    }
    REQUIRE(sum <= kLimit + 1e-6);
  }
  CHECK(total > 0.9 * kLimit * now / 60);  // and the limit is made use of
}
