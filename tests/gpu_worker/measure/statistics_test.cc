#include "gpu_worker/measure/statistics.h"

#include <catch2/catch.hpp>
#include <random>

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

TEST_CASE("noise that more samples would only repeat is stable", "[unit]") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(1, 0.02);
  std::vector<double> samples;
  for (int i = 0; i < 71; ++i) samples.push_back(noise(random));
  CHECK_FALSE(NoiseIsStable(samples));  // too few to tell
  for (int i = 0; i < 130; ++i) samples.push_back(noise(random));
  CHECK(NoiseIsStable(samples));
  CHECK(NoiseIsStable(std::vector<double>(100, 1.0)));
  // The device slows down: each sample widens the spread.
  std::vector<double> drifting;
  for (int i = 0; i < 100; ++i) drifting.push_back(1 + 0.01 * i);
  CHECK_FALSE(NoiseIsStable(drifting));
}

TEST_CASE("first uses differ only where all of them do and by more than noise", "[unit]") {
  const std::vector<double> repeated = {1.0, 1.01, 0.99, 1.0, 1.005, 0.995, 1.0, 1.0};
  CHECK(FirstUseDiffers({1.5, 1.4}, repeated, 0.03));
  CHECK(FirstUseDiffers({0.5, 0.6}, repeated, 0.03));
  CHECK_FALSE(FirstUseDiffers({1.5, 1.0}, repeated, 0.03));    // one is like the others
  CHECK_FALSE(FirstUseDiffers({1.02, 1.02}, repeated, 0.03));  // within the tolerance
  CHECK_FALSE(FirstUseDiffers({}, repeated, 0.03));
  CHECK_FALSE(FirstUseDiffers({2, 2}, {1, 1, 1}, 0.03));
  // Times that scatter by more than the tolerance.
  CHECK_FALSE(FirstUseDiffers({1.1, 1.1}, {0.9, 1.0, 1.2, 0.95, 1.0, 1.15, 1.05, 0.9}, 0.03));
}

TEST_CASE("a difference of first use below the floor does not count", "[unit]") {
  const std::vector<double> repeated = {3.4, 3.5, 3.4, 3.3, 3.4};
  CHECK(FirstUseDiffers({3.0, 2.9}, repeated, 0.03));
  CHECK_FALSE(FirstUseDiffers({3.0, 2.9}, repeated, 0.03, 1));
  CHECK(FirstUseDiffers({1.0, 1.1}, repeated, 0.03, 1));
}

TEST_CASE("samples of launches that did nothing are told from honest ones", "[unit]") {
  std::vector<double> samples(60, 0.07);
  samples[0] = samples[30] = 0.002;
  CHECK_FALSE(SomeSkipped(samples, 0.001));  // two might be an accident
  samples[50] = 0.002;
  CHECK(SomeSkipped(samples, 0.001));
  samples.resize(200, 0.07);
  CHECK_FALSE(SomeSkipped(samples, 0.001));  // three of 200 gain nothing
  CHECK_FALSE(SomeSkipped({}, 0.001));
  // Disturbed launches are longer; those of a few microseconds are as coarse as the clock.
  CHECK_FALSE(SomeSkipped({1, 1, 1, 1, 1, 1, 1, 3, 4, 5}, 0.001));
  CHECK_FALSE(SomeSkipped({0.0018, 0.0018, 0.0018, 0.0008, 0.0009, 0.0009, 0.0018}, 0.001));
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> noise(0, 0.15);
  int wrong = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> honest(60);
    for (double& x : honest) x = noise(random);
    wrong += SomeSkipped(honest, 0.001) ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("honest noise is seldom called a difference of first use", "[unit]") {
  std::mt19937_64 random(11);
  for (double sigma : {0.002, 0.02, 0.1}) {
    std::lognormal_distribution<double> noise(0, sigma);
    int wrong = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> first(2), repeated(20);
      for (double& x : first) x = noise(random);
      for (double& x : repeated) x = noise(random);
      wrong += FirstUseDiffers(first, repeated, 0.03) ? 1 : 0;
    }
    CHECK(wrong < 30);  // and it must come three times in a row to count
  }
}

}  // namespace
}  // namespace warpsmith::measure
