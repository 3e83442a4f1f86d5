#include "gpu_worker/measure/bootstrap.h"

#include <algorithm>
#include <cstddef>

#include "gpu_worker/measure/location.h"
#include "gpu_worker/measure/statistics.h"

namespace warpsmith::measure {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): the standard library's distributions differ between implementations.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  size_t Below(size_t bound) {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return static_cast<size_t>((z >> 32) * bound >> 32);  // bounds are far below 2^32
  }

 private:
  uint64_t state_;
};

void Resample(const std::vector<double>& from, Draws& draws, std::vector<double>& to) {
  for (size_t i = 0; i < from.size(); ++i) to.push_back(from[draws.Below(from.size())]);
}

}  // namespace

Interval RatioOfMedians(const std::vector<std::vector<double>>& numerator,
                        const std::vector<std::vector<double>>& denominator, const BootstrapOptions& options) {
  std::vector<size_t> rounds;
  std::vector<double> above, below;
  for (size_t round = 0; round < std::min(numerator.size(), denominator.size()); ++round) {
    if (numerator[round].empty() || denominator[round].empty()) continue;
    rounds.push_back(round);
    above.insert(above.end(), numerator[round].begin(), numerator[round].end());
    below.insert(below.end(), denominator[round].begin(), denominator[round].end());
  }
  if (rounds.empty()) return {};
  const Location top(above), bottom(below);
  double divisor = bottom.value();
  if (divisor <= 0) return {};
  Interval interval;
  interval.value = top.value() / divisor;
  Draws draws(options.seed);
  std::vector<double> ratios;
  for (int resample = 0; resample < options.resamples; ++resample) {
    above.clear();
    below.clear();
    for (size_t i = 0; i < rounds.size(); ++i) {
      size_t round = rounds[draws.Below(rounds.size())];
      Resample(numerator[round], draws, above);
      Resample(denominator[round], draws, below);
    }
    divisor = bottom.Of(below);
    if (divisor > 0) ratios.push_back(top.Of(above) / divisor);
  }
  std::sort(ratios.begin(), ratios.end());
  double tail = (1 - options.confidence) / 2;
  interval.low = ratios.empty() ? interval.value : std::min(interval.value, Quantile(ratios, tail));
  interval.high = ratios.empty() ? interval.value : std::max(interval.value, Quantile(ratios, 1 - tail));
  return interval;
}

}  // namespace warpsmith::measure
