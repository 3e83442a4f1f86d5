#include "gpu_worker/measure/statistics.h"

#include <algorithm>
#include <cmath>

namespace warpsmith::measure {

double Quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  double position = q * static_cast<double>(sorted.size() - 1);
  auto low = static_cast<size_t>(std::floor(position));
  size_t high = std::min(low + 1, sorted.size() - 1);
  double weight = position - static_cast<double>(low);
  return sorted[low] * (1 - weight) + sorted[high] * weight;
}

Summary Summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  Summary summary;
  summary.samples = static_cast<int>(samples.size());
  summary.median = Quantile(samples, 0.5);
  if (samples.size() >= 2 && summary.median > 0) {
    summary.spread = (Quantile(samples, 0.75) - Quantile(samples, 0.25)) / summary.median;
  }
  return summary;
}

}  // namespace warpsmith::measure
