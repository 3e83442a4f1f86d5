#include "gpu_worker/measure/statistics.h"

#include <algorithm>
#include <cmath>

namespace warpsmith::measure {
namespace {

constexpr size_t kFewestBeforeWindow = 8;
constexpr size_t kFewestRepeated = 4;
constexpr size_t kFewestSkipped = 3;
constexpr size_t kSkippedOneIn = 50;

double SpreadOf(const std::vector<double>& sorted) {
  double median = Quantile(sorted, 0.5);
  if (sorted.size() < 2 || median <= 0) return 0;
  return (Quantile(sorted, 0.75) - Quantile(sorted, 0.25)) / median;
}

}  // namespace

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
  summary.spread = SpreadOf(samples);
  return summary;
}

bool NoiseIsStable(const std::vector<double>& samples, size_t window, double limit) {
  if (window < 2 || samples.size() < window + kFewestBeforeWindow) return false;
  auto first = samples.end() - static_cast<std::ptrdiff_t>(window);
  std::vector<double> sorted(samples.begin(), first);
  std::sort(sorted.begin(), sorted.end());
  double sum = 0, squares = 0;
  for (auto sample = first; sample != samples.end(); ++sample) {
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), *sample), *sample);
    double spread = SpreadOf(sorted);
    sum += spread;
    squares += spread * spread;
  }
  auto count = static_cast<double>(window);
  double mean = sum / count;
  if (mean <= 0) return true;  // no noise at all
  double variance = std::max(0.0, squares / count - mean * mean);
  return std::sqrt(variance) / mean < limit;
}

bool FirstUseDiffers(const std::vector<double>& first, const std::vector<double>& repeated, double tolerance,
                     double floor) {
  if (first.empty() || repeated.size() < kFewestRepeated) return false;
  std::vector<double> sorted = repeated;
  std::sort(sorted.begin(), sorted.end());
  double usual = Quantile(sorted, 0.5);
  double first_median = Summarize(first).median;
  if (std::abs(first_median - usual) <= floor) return false;
  auto [least, most] = std::minmax_element(first.begin(), first.end());
  if (first_median > usual * (1 + tolerance)) return *least > Quantile(sorted, 0.975);
  if (first_median < usual * (1 - tolerance)) return *most < Quantile(sorted, 0.025);
  return false;
}

bool SomeSkipped(const std::vector<double>& samples, double floor) {
  const double usual = Summarize(samples).median;
  const double least = std::min(usual / 2, usual - floor);
  const auto skipped =
      static_cast<size_t>(std::count_if(samples.begin(), samples.end(), [&](double one) { return one < least; }));
  return skipped >= kFewestSkipped && skipped * kSkippedOneIn >= samples.size();
}

}  // namespace warpsmith::measure
