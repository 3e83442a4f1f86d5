// Families put together at scrape time, from figures that live elsewhere. A value that is not there is left out.
// Threading: one thread at a time.
#ifndef WARPSMITH_COMMON_METRICS_FAMILIES_H_
#define WARPSMITH_COMMON_METRICS_FAMILIES_H_

#include <prometheus/labels.h>
#include <prometheus/metric_family.h>

#include <optional>
#include <string>
#include <vector>

namespace warpsmith::metrics {

class Families {
 public:
  // Values that follow belong to it.
  Families& Gauge(const std::string& name, const std::string& help);
  Families& Counter(const std::string& name, const std::string& help);
  // Nothing for an empty or non-finite value.
  Families& Value(const prometheus::Labels& labels, std::optional<double> value);

  // Those that have values.
  std::vector<prometheus::MetricFamily> Take();

 private:
  Families& Begin(const std::string& name, const std::string& help, prometheus::MetricType type);
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_FAMILIES_H_
