#include "gpu_worker/measure/location.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "gpu_worker/measure/statistics.h"

namespace warpsmith::measure {
namespace {

constexpr double kArithmetic = 1e-5;
constexpr double kNormalDeviation = 1.4826;  // of the median absolute deviation, where noise is normal
constexpr double kMedianError = 1.2533;      // of a median, over that of a mean, likewise
constexpr double kOutlierDeviations = 3;
constexpr double kOutlierTicks = 2.5;
constexpr size_t kFewestForTicks = 8;

double Median(std::vector<double>& values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle)) + upper) / 2;
}

double Deviation(const std::vector<double>& samples, double median) {
  std::vector<double> distances;
  distances.reserve(samples.size());
  for (double sample : samples) distances.push_back(std::abs(sample - median));
  return kNormalDeviation * Median(distances);
}

struct Mean {
  double value = 0;
  double error = 0;
};

Mean MeanWithin(const std::vector<double>& samples, double low, double high) {
  double sum = 0, squares = 0, count = 0;
  const double origin = (low + high) / 2;
  for (double sample : samples) {
    if (sample < low || sample > high) continue;
    const double offset = sample - origin;
    sum += offset;
    squares += offset * offset;
    ++count;
  }
  if (count == 0) return {};
  const double mean = sum / count;
  return {origin + mean, std::sqrt(std::max(squares / count - mean * mean, 0.0) / count)};
}

}  // namespace

double TickOf(const std::vector<double>& sorted) {
  if (sorted.empty()) return 0;
  const double least = kArithmetic * std::abs(Quantile(sorted, 0.5));
  double tick = 0;
  for (size_t i = 1; i < sorted.size(); ++i) {
    const double step = sorted[i] - sorted[i - 1];
    if (step > least && (tick == 0 || step < tick)) tick = step;
  }
  return tick;
}

Location::Location(std::vector<double> samples) {
  if (samples.empty()) return;
  std::sort(samples.begin(), samples.end());
  const auto count = static_cast<double>(samples.size());
  value_ = Quantile(samples, 0.5);
  if (value_ <= 0) return;
  const double deviation = Deviation(samples, value_);
  const double tick = samples.size() < kFewestForTicks ? 0 : TickOf(samples);
  coarse_ = tick > kCoarseShare * value_;
  if (!coarse_) {
    relative_error_ = kMedianError * deviation / std::sqrt(count) / value_;
    return;
  }
  const double half = std::max(kOutlierDeviations * deviation, kOutlierTicks * tick);
  low_ = value_ - half;
  high_ = value_ + half;
  const Mean mean = MeanWithin(samples, low_, high_);
  value_ = mean.value;
  if (value_ > 0) relative_error_ = std::max(mean.error, tick / count) / value_;
}

double Location::Of(std::vector<double>& samples) const {
  if (samples.empty()) return 0;
  return coarse_ ? MeanWithin(samples, low_, high_).value : Median(samples);
}

}  // namespace warpsmith::measure
