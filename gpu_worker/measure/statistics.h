// Robust statistics of timing samples: medians and quartiles, never means.
// Threading: pure functions. Units: whatever the samples are in. Quartiles interpolate linearly between order
// statistics (Hyndman and Fan's type 7).
#ifndef WARPSMITH_GPU_WORKER_MEASURE_STATISTICS_H_
#define WARPSMITH_GPU_WORKER_MEASURE_STATISTICS_H_

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

}  // namespace warpsmith::measure

#endif  // WARPSMITH_GPU_WORKER_MEASURE_STATISTICS_H_
