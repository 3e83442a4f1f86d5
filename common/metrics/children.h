// The labelled children of one metric, each made at first use and found again by its label values alone.
// Threading: With is safe from any thread; what it returns lives as long as the registry. Whoever counts often keeps
// the reference.
#ifndef WARPSMITH_COMMON_METRICS_CHILDREN_H_
#define WARPSMITH_COMMON_METRICS_CHILDREN_H_

#include <prometheus/family.h>
#include <prometheus/labels.h>

#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warpsmith::metrics {

template <typename Metric>
class Children {
 public:
  Children(prometheus::Family<Metric>& family, std::vector<std::string> label_names, std::vector<double> buckets = {})
      : family_(family), names_(std::move(label_names)), buckets_(std::move(buckets)) {}

  // As many values as there are names.
  Metric& With(const std::vector<std::string>& values) {
    std::string key;
    for (const std::string& value : values) key.append(value).push_back('\0');
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end()) return *found->second;
    prometheus::Labels labels;
    for (size_t i = 0; i < names_.size() && i < values.size(); ++i) labels[names_[i]] = values[i];
    Metric* made = nullptr;
    if constexpr (std::is_default_constructible_v<Metric>) {
      made = &family_.Add(labels);
    } else {
      made = &family_.Add(labels, buckets_);
    }
    known_.emplace(std::move(key), made);
    return *made;
  }

 private:
  prometheus::Family<Metric>& family_;
  const std::vector<std::string> names_;
  const std::vector<double> buckets_;  // of histograms
  std::mutex mutex_;
  std::unordered_map<std::string, Metric*> known_;  // guarded by mutex_
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_CHILDREN_H_
