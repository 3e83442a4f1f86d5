// How sure a ratio of two times is: a bootstrap over measurements that were taken in turn, round by round.
// Threading: pure functions; the same seed gives the same interval on every machine. Units: samples of both sides in
// the same one. Source of the method: Efron and Tibshirani, An Introduction to the Bootstrap, chapters 8 and 13
// (percentile interval; rounds are drawn with replacement, then samples within each, since samples of one round share
// the device's state at that moment).
#ifndef WARPSMITH_GPU_WORKER_MEASURE_BOOTSTRAP_H_
#define WARPSMITH_GPU_WORKER_MEASURE_BOOTSTRAP_H_

#include <cstdint>
#include <vector>

namespace warpsmith::measure {

struct Interval {
  double value = 0;  // of the samples as they are
  double low = 0;
  double high = 0;
};

struct BootstrapOptions {
  int resamples = 2000;
  double confidence = 0.95;
  uint64_t seed = 1;
};

// Of medians, or what stands in their place by a coarse clock (location.h). Round r of both sides was measured
// together; empty rounds on either side are left out. All zeros where no round is left.
Interval RatioOfMedians(const std::vector<std::vector<double>>& numerator,
                        const std::vector<std::vector<double>>& denominator, const BootstrapOptions& options = {});

}  // namespace warpsmith::measure

#endif  // WARPSMITH_GPU_WORKER_MEASURE_BOOTSTRAP_H_
