// Intervals over simulated measurements: they hold the truth about as often as they say, and tell a kernel from itself.
#include "gpu_worker/measure/bootstrap.h"

#include <catch2/catch.hpp>
#include <random>

namespace warpsmith::measure {
namespace {

using Rounds = std::vector<std::vector<double>>;

struct Simulation {
  std::mt19937_64 random{7};
  double sample_noise = 0.004;
  double round_noise = 0;  // shared by both sides of a round: clocks, temperature
  double outliers = 0;

  void Fill(double numerator, double denominator, Rounds& above, Rounds& below) {
    above.assign(8, {});
    below.assign(8, {});
    for (size_t round = 0; round < above.size(); ++round) {
      double state = std::exp(std::normal_distribution<double>(0, 1)(random) * round_noise);
      for (int i = 0; i < 20; ++i) {
        above[round].push_back(Sample(numerator * state));
        below[round].push_back(Sample(denominator * state));
      }
    }
  }
  double Sample(double truth) {
    double value = truth * std::exp(std::normal_distribution<double>(0, 1)(random) * sample_noise);
    return std::uniform_real_distribution<double>(0, 1)(random) < outliers ? value * 3 : value;
  }
};

TEST_CASE("a kernel against itself is 1.000 +- 0.003", "[unit]") {
  Simulation simulation;
  simulation.outliers = 0.02;
  BootstrapOptions options;
  options.resamples = 500;
  for (int trial = 0; trial < 20; ++trial) {
    Rounds above, below;
    simulation.Fill(1, 1, above, below);
    Interval interval = RatioOfMedians(above, below, options);
    CHECK(interval.value == Approx(1).margin(0.003));
    CHECK(interval.low >= 0.994);
    CHECK(interval.high <= 1.006);
    CHECK(interval.low <= interval.value);
    CHECK(interval.value <= interval.high);
  }
}

TEST_CASE("the interval holds the truth about as often as it says", "[unit]") {
  for (double round_noise : {0.0, 0.003}) {
    Simulation simulation;
    simulation.round_noise = round_noise;
    BootstrapOptions options;
    options.resamples = 300;
    int held = 0;
    for (int trial = 0; trial < 300; ++trial) {
      Rounds above, below;
      simulation.Fill(1.25, 1, above, below);
      options.seed = static_cast<uint64_t>(trial);
      Interval interval = RatioOfMedians(above, below, options);
      held += interval.low <= 1.25 && 1.25 <= interval.high ? 1 : 0;
    }
    CHECK(held >= 270);
  }
}

TEST_CASE("a difference of one in a hundred is told from none", "[unit]") {
  Simulation simulation;
  Rounds above, below;
  simulation.Fill(1.01, 1, above, below);
  Interval interval = RatioOfMedians(above, below);
  CHECK(interval.low > 1);
  CHECK(interval.value == Approx(1.01).epsilon(0.003));
}

TEST_CASE("the same seed, the same interval", "[unit]") {
  Simulation simulation;
  Rounds above, below;
  simulation.Fill(2, 1, above, below);
  BootstrapOptions options;
  Interval first = RatioOfMedians(above, below, options), second = RatioOfMedians(above, below, options);
  CHECK(first.low == second.low);
  CHECK(first.high == second.high);
  options.seed = 2;
  CHECK(RatioOfMedians(above, below, options).low != first.low);
}

TEST_CASE("rounds without samples on either side are left out", "[unit]") {
  Interval interval = RatioOfMedians({{}, {2, 2, 2}, {9}}, {{5}, {1, 1, 1}, {}});
  CHECK(interval.value == 2);
  CHECK(interval.low == 2);
  CHECK(interval.high == 2);
  CHECK(RatioOfMedians({}, {}).value == 0);
  CHECK(RatioOfMedians({{1}}, {{0}}).value == 0);
}

}  // namespace
}  // namespace warpsmith::measure
