#include "common/metrics/bounded_labels.h"

namespace warpsmith::metrics {
namespace {

constexpr size_t kLongestLabel = 64;

}  // namespace

std::string CleanLabel(const std::string& value) {
  std::string clean = value.substr(0, kLongestLabel);
  for (char& c : clean) {
    if (c < ' ' || c > '~' || c == '"' || c == '\\') c = '_';
  }
  return clean;
}

std::string BoundedLabels::Fold(const std::string& value) {
  std::string clean = CleanLabel(value);
  const std::lock_guard lock(mutex_);
  if (known_.contains(clean)) return clean;
  if (known_.size() >= most_) return kOther;
  known_.insert(clean);
  return clean;
}

}  // namespace warpsmith::metrics
