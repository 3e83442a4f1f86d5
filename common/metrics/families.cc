#include "common/metrics/families.h"

#include <cmath>
#include <utility>

namespace warpsmith::metrics {

Families& Families::Begin(const std::string& name, const std::string& help, prometheus::MetricType type) {
  prometheus::MetricFamily& family = families_.emplace_back();
  family.name = name;
  family.help = help;
  family.type = type;
  return *this;
}

Families& Families::Gauge(const std::string& name, const std::string& help) {
  return Begin(name, help, prometheus::MetricType::Gauge);
}

Families& Families::Counter(const std::string& name, const std::string& help) {
  return Begin(name, help, prometheus::MetricType::Counter);
}

Families& Families::Value(const prometheus::Labels& labels, std::optional<double> value) {
  if (!value || !std::isfinite(*value) || families_.empty()) return *this;
  prometheus::MetricFamily& family = families_.back();
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  for (const auto& [name, text] : labels) metric.label.push_back({name, text});
  (family.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = *value;
  return *this;
}

std::vector<prometheus::MetricFamily> Families::Take() {
  std::vector<prometheus::MetricFamily> families = std::exchange(families_, {});
  std::erase_if(families, [](const prometheus::MetricFamily& family) { return family.metric.empty(); });
  return families;
}

}  // namespace warpsmith::metrics
