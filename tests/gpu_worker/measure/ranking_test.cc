#include "gpu_worker/measure/ranking.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "gpu_worker/measure/statistics.h"

namespace warpsmith::measure {
namespace {

MedianTime Measured(double truth, double sigma, int samples, std::mt19937_64& random) {
  std::vector<double> values;
  for (int i = 0; i < samples; ++i)
    values.push_back(truth * std::exp(std::normal_distribution<double>(0, sigma)(random)));
  Summary summary = Summarize(values);
  return {summary.median, summary.spread, summary.samples};
}

TEST_CASE("equal kernels on boards of different speed are mostly ties, different ones are not", "[unit]") {
  std::mt19937_64 random(5);
  int ties = 0, right = 0;
  for (int trial = 0; trial < 400; ++trial) {
    double board = 1 + 0.3 * (trial % 2);
    Score a = ScoreOf(Measured(2, 0.01, 60, random), Measured(1, 0.01, 40, random));
    Score same = ScoreOf(Measured(2 * board, 0.01, 60, random), Measured(board, 0.01, 40, random));
    Score faster = ScoreOf(Measured(2 * board, 0.01, 60, random), Measured(0.97 * board, 0.01, 40, random));
    ties += Compare(a, same) == Order::kTie ? 1 : 0;
    right += Compare(faster, a) == Order::kFaster && Compare(a, faster) == Order::kSlower ? 1 : 0;
  }
  CHECK(ties >= 390);  // two 95 % intervals that do not even touch are rarer than one in twenty
  CHECK(right >= 390);
}

TEST_CASE("scores are logarithms of ratios and know nothing of times that are none", "[unit]") {
  Score score = ScoreOf({4, 0, 10}, {2, 0, 10});
  CHECK(score.value == Approx(std::log(2)));
  CHECK(score.low == score.high);
  CHECK(ScoreOf({0, 0, 0}, {1, 0, 1}).value == 0);
  CHECK(Compare(ScoreOf({4, 0, 10}, {2, 0, 10}), score) == Order::kTie);
}

TEST_CASE("more noise or fewer samples widen the interval", "[unit]") {
  auto width = [](double spread, int samples) {
    Score score = ScoreOf({1, 0.001, 100}, {1, spread, samples});
    return score.high - score.low;
  };
  CHECK(width(0.02, 20) > width(0.01, 20));
  CHECK(width(0.01, 5) > width(0.01, 20));
}

}  // namespace
}  // namespace warpsmith::measure
