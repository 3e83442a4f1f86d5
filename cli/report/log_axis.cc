#include "cli/report/log_axis.h"

#include <algorithm>
#include <cmath>

namespace warpsmith::cli::report {
namespace {

constexpr double kAir = 0.04;  // of the axis, at each end

}  // namespace

void LogAxis::Include(double value) {
  if (!(value > 0) || !std::isfinite(value)) return;
  low_ = low_ > 0 ? std::min(low_, value) : value;
  high_ = std::max(high_, value);
}

void LogAxis::Finish(double least_factor) {
  if (empty()) return;
  if (high_ / low_ < least_factor) {
    const double widen = std::sqrt(least_factor / (high_ / low_));
    low_ /= widen;
    high_ *= widen;
  }
  const double air = std::pow(high_ / low_, kAir);
  low_ /= air;
  high_ *= air;
}

double LogAxis::Position(double value) const { return std::log(value / low_) / std::log(high_ / low_); }

std::vector<double> LogAxis::Ticks(int wanted) const {
  std::vector<double> ticks;
  if (empty()) return ticks;
  const double decades = std::log10(high_ / low_);
  if (decades < 0.7) {  // less than a factor of five: evenly spaced numbers read better
    const double rough = (high_ - low_) / wanted;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = power * 10;
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (power * factor >= rough) {
        step = power * factor;
        break;
      }
    }
    for (double i = std::ceil(low_ / step); i * step <= high_; ++i) ticks.push_back(i * step);
    return ticks;
  }
  const int every = std::max(1, static_cast<int>(std::ceil(decades / wanted)));  // decades from tick to tick
  const bool three = decades * 3 <= wanted * 1.5;
  for (int power = static_cast<int>(std::floor(std::log10(low_))); power <= std::log10(high_); ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && !three) break;
      if (power % every != 0) continue;
      const double tick = factor * std::pow(10, power);
      if (tick >= low_ && tick <= high_) ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace warpsmith::cli::report
