#include "gpu_worker/measure/ranking.h"

#include <algorithm>
#include <cmath>

namespace warpsmith::measure {
namespace {

// Of a relative error, and so of the logarithm, to first order.
double StandardError(const MedianTime& time) {
  return 1.2533 * time.spread / 1.349 / std::sqrt(static_cast<double>(std::max(time.samples, 1)));
}

}  // namespace

Score ScoreOf(const MedianTime& anchor, const MedianTime& candidate) {
  if (!(anchor.median > 0) || !(candidate.median > 0)) return {};
  Score score;
  score.value = std::log(anchor.median / candidate.median);
  double half = 1.96 * std::hypot(StandardError(anchor), StandardError(candidate));
  score.low = score.value - half;
  score.high = score.value + half;
  return score;
}

Order Compare(const Score& first, const Score& second) {
  if (first.low > second.high) return Order::kFaster;
  if (first.high < second.low) return Order::kSlower;
  return Order::kTie;
}

}  // namespace warpsmith::measure
