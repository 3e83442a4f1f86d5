// Robust statistics of timing samples: medians and quartiles. The figure that stands for a time: location.h.
// Threading: pure functions. Units: whatever the samples are in. Quartiles interpolate linearly between order
// statistics (Hyndman and Fan's type 7).
#ifndef WARPSMITH_GPU_WORKER_MEASURE_STATISTICS_H_
#define WARPSMITH_GPU_WORKER_MEASURE_STATISTICS_H_

#include <cstddef>
#include <vector>

namespace warpsmith::measure {

struct Summary {
  double median = 0;
  double spread = 0;  // interquartile range over median; 0 for fewer than two samples
  int samples = 0;
};

Summary Summarize(std::vector<double> samples);

// The q-quantile, 0 <= q <= 1, of sorted samples; 0 of none.
double Quantile(const std::vector<double>& sorted, double q);

// Whether more samples would only show the same noise: the spread of everything so far hardly moved while the last
// `window` samples came (their standard deviation over their mean is below `limit`). False for fewer than window + 8.
// Method: nvbench's second stopping rule, with the spread instead of the standard deviation.
bool NoiseIsStable(const std::vector<double>& samples, size_t window = 64, double limit = 0.05);

// Whether times on inputs seen for the first time and times on inputs seen before tell different stories: their medians
// are more than `tolerance` (a share) and more than `floor` (in the samples' unit) apart, and every one of the first
// lies outside the middle 95 % of the others on that side. False where there are no first samples or fewer than four
// others.
bool FirstUseDiffers(const std::vector<double>& first, const std::vector<double>& repeated, double tolerance,
                     double floor = 0);

// Whether some launches seem to have done nothing: at least three samples, and one in fifty, took less than half the
// median and were more than `floor` (in the samples' unit) below it. What disturbs a launch makes it longer, so honest
// samples have a long tail above the median only.
bool SomeSkipped(const std::vector<double>& samples, double floor);

}  // namespace warpsmith::measure

#endif  // WARPSMITH_GPU_WORKER_MEASURE_STATISTICS_H_
