#include "gpu_worker/measure/location.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "gpu_worker/measure/statistics.h"

namespace warpsmith::measure {
namespace {

// A clock of whole ticks, and a kernel that takes about the same time each time, but for what now and then interrupts
// it. Microseconds.
class Bench {
 public:
  explicit Bench(double tick, unsigned seed = 1) : tick_(tick), random_(seed) {}

  double Sample(double truth) {
    double taken = truth * std::exp(0.01 * normal_(random_));
    if (uniform_(random_) < 0.03) taken += 3 * uniform_(random_);
    const double begun = 100 * uniform_(random_);
    return Shown(begun + taken) - Shown(begun);
  }
  std::vector<double> Samples(double truth, int count) {
    std::vector<double> samples;
    for (int i = 0; i < count; ++i) samples.push_back(Sample(truth));
    return samples;
  }

 private:
  double Shown(double time) const { return tick_ > 0 ? std::floor(time / tick_) * tick_ : time; }

  const double tick_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

TEST_CASE("by a fine clock the figure is the median", "[unit]") {
  Bench bench(0);
  const std::vector<double> samples = bench.Samples(100, 201);
  const Location location(samples);
  CHECK_FALSE(location.coarse());
  CHECK(location.value() == Summarize(samples).median);
  CHECK(location.relative_error() == Approx(1.2533 * 0.01 / std::sqrt(201)).epsilon(0.25));
  CHECK_FALSE(Location(Bench(0.032).Samples(100, 200)).coarse());  // 32 ns of 100 us
}

TEST_CASE("by a coarse clock the figure lies between the ticks, where the truth is", "[unit]") {
  for (double tick : {0.032, 0.5, 1.0}) {
    Bench bench(tick);
    for (double truth : {2.2, 3.4, 5.9}) {
      const Location location(bench.Samples(truth, 20000));
      CAPTURE(tick, truth, location.value());
      CHECK(location.coarse());
      CHECK(location.value() == Approx(truth).epsilon(0.025));  // interruptions shorter than the window are in it
      CHECK(location.relative_error() < 0.005);
    }
  }
}

TEST_CASE("the error is what repeating shows", "[unit]") {
  Bench bench(0.5);
  double sum = 0, squares = 0, told = 0;
  constexpr int kRepeats = 300;
  for (int i = 0; i < kRepeats; ++i) {
    const Location location(bench.Samples(3.4, 400));
    sum += location.value();
    squares += location.value() * location.value();
    told += location.relative_error() * location.value() / kRepeats;
  }
  const double mean = sum / kRepeats;
  CHECK(std::sqrt(squares / kRepeats - mean * mean) == Approx(told).epsilon(0.2));
}

TEST_CASE("outliers are left out", "[unit]") {
  std::vector<double> samples = Bench(0.5).Samples(3.4, 1000);
  const double before = Location(samples).value();
  for (int i = 0; i < 50; ++i) samples.push_back(500);
  CHECK(Location(samples).value() == Approx(before).epsilon(0.002));
}

TEST_CASE("few samples, equal samples, none", "[unit]") {
  CHECK(Location({}).value() == 0);
  CHECK(Location({0, 0, 0}).value() == 0);
  CHECK(Location({3}).value() == 3);
  CHECK(Location({3, 3.5}).value() == 3.25);
  CHECK_FALSE(Location({3, 3.5, 3, 4, 3, 3}).coarse());  // too few to tell a clock by
  const Location same(std::vector<double>(100, 3.5));
  CHECK(same.value() == 3.5);
  CHECK_FALSE(same.coarse());
  // Nearly all within one tick: the next one's share is not known to be nothing.
  std::vector<double> nearly(20, 3.0);
  nearly.back() = 3.5;
  CHECK(Location(nearly).relative_error() >= 0.5 / 20 / 3.1);
  std::vector<double> none;
  CHECK(same.Of(none) == 0);
}

TEST_CASE("a resample is judged by the window of the whole", "[unit]") {
  const Location location(Bench(0.5).Samples(3.4, 1000));
  std::vector<double> resample = {3, 3, 3.5, 3.5, 4, 900};
  CHECK(location.Of(resample) == Approx(3.4));
  const Location fine(Bench(0).Samples(100, 100));
  std::vector<double> three = {5, 1, 900};
  CHECK(fine.Of(three) == 5);
}

TEST_CASE("the tick is the smallest step that is not the arithmetic's", "[unit]") {
  CHECK(TickOf({1, 1.5, 1.5 + 1e-9, 2.5}) == Approx(0.5));
  CHECK(TickOf({2, 2, 2}) == 0);
  CHECK(TickOf({}) == 0);
}

}  // namespace
}  // namespace warpsmith::measure
