#include "common/fast_p.h"

#include <algorithm>

namespace warpsmith {

double FastP(const std::vector<double>& ratios, int problems, double p) {
  if (problems <= 0) return 0;
  const auto fast = std::count_if(ratios.begin(), ratios.end(), [p](double ratio) { return p <= 0 || ratio > p; });
  return static_cast<double>(fast) / problems;
}

double RatioToBaseline(double baseline_ms, double eager_ms, double kernel_ms, double ratio_to_eager) {
  if (baseline_ms <= 0 || kernel_ms <= 0) return 0;
  return ratio_to_eager > 0 && eager_ms > 0 ? ratio_to_eager * (baseline_ms / eager_ms) : baseline_ms / kernel_ms;
}

}  // namespace warpsmith
