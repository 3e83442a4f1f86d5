// Keeps what comes from outside from growing a metric without bound: the first values are kept apart, all further ones
// are "other". Values become printable ASCII of a bounded length. Threading: safe from any thread.
#ifndef WARPSMITH_COMMON_METRICS_BOUNDED_LABELS_H_
#define WARPSMITH_COMMON_METRICS_BOUNDED_LABELS_H_

#include <mutex>
#include <set>
#include <string>

namespace warpsmith::metrics {

inline constexpr char kOther[] = "other";

// At most 64 characters; what is not printable ASCII, and quotes and backslashes, become '_'.
std::string CleanLabel(const std::string& value);

class BoundedLabels {
 public:
  explicit BoundedLabels(size_t most) : most_(most) {}
  // The cleaned value, or kOther.
  std::string Fold(const std::string& value);

 private:
  const size_t most_;
  std::mutex mutex_;
  std::set<std::string> known_;  // guarded by mutex_
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_BOUNDED_LABELS_H_
