#include "gpu_worker/metrics/device_meter.h"

#include <algorithm>

namespace warpsmith::metrics {
namespace {

constexpr Duration kWindow = std::chrono::minutes(1);
constexpr Duration kTooShort = std::chrono::milliseconds(100);  // to say anything

}  // namespace

void DeviceMeter::Begin() {
  const std::lock_guard lock(mutex_);
  if (!since_) since_ = clock_.Now();
}

void DeviceMeter::End() {
  const std::lock_guard lock(mutex_);
  if (!since_) return;
  const TimePoint now = clock_.Now();
  total_ += now - *since_;
  recent_.emplace_back(*since_, now);
  since_.reset();
  while (!recent_.empty() && recent_.front().second < now - kWindow) recent_.pop_front();
}

double DeviceMeter::Seconds() const {
  const std::lock_guard lock(mutex_);
  return ToSeconds(total_ + (since_ ? clock_.Now() - *since_ : Duration{}));
}

std::optional<double> DeviceMeter::Ratio() const {
  const std::lock_guard lock(mutex_);
  const TimePoint now = clock_.Now();
  const TimePoint from = std::max(made_, now - kWindow);
  if (now - from < kTooShort) return std::nullopt;
  Duration busy = since_ ? now - std::max(*since_, from) : Duration{};
  for (const auto& [begin, end] : recent_) busy += std::max(Duration{}, end - std::max(begin, from));
  return ToSeconds(busy) / ToSeconds(now - from);
}

}  // namespace warpsmith::metrics
