// Comparing candidates that were timed on different boards: by log(anchor / candidate), where the anchor is the same
// module's time on the same board in the same minute. What the intervals cannot tell apart is a tie.
// Threading: pure functions. Units: both times in the same one; scores are natural logarithms, larger is faster.
// Source: the standard error of a median of n samples is 1.2533 sigma / sqrt(n), and sigma is the interquartile range
// over 1.349, both for normal noise (Kendall and Stuart, The Advanced Theory of Statistics, vol. 1).
#ifndef WARPSMITH_GPU_WORKER_MEASURE_RANKING_H_
#define WARPSMITH_GPU_WORKER_MEASURE_RANKING_H_

namespace warpsmith::measure {

struct MedianTime {
  double median = 0;
  double spread = 0;  // interquartile range over median
  int samples = 0;
};

struct Score {
  double value = 0;
  double low = 0;  // 95 %
  double high = 0;
};

enum class Order { kSlower, kTie, kFaster };

// All zeros where either median is not positive. Below two samples a median is as sure as its spread is small.
Score ScoreOf(const MedianTime& anchor, const MedianTime& candidate);

// What the first is, seen from the second.
Order Compare(const Score& first, const Score& second);

}  // namespace warpsmith::measure

#endif  // WARPSMITH_GPU_WORKER_MEASURE_RANKING_H_
