// What one process shows of itself: its counters, what is collected at scrape time, and whether it is ready. It knows
// nothing of HTTP.
// Threading: safe from any thread. Collectables are called at each scrape, from several threads at once, and must not
// wait for anything for long.
#ifndef WARPSMITH_COMMON_METRICS_TELEMETRY_H_
#define WARPSMITH_COMMON_METRICS_TELEMETRY_H_

#include <prometheus/registry.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/metrics/readiness.h"

namespace warpsmith::metrics {

class Telemetry {
 public:
  prometheus::Registry& registry() { return registry_; }
  Readiness& readiness() { return readiness_; }
  // Asked at each scrape, while somebody holds it. Its families' names are its own.
  void Add(const std::shared_ptr<prometheus::Collectable>& collectable);
  // The page in Prometheus' text format, families without values left out.
  std::string Page() const;

 private:
  prometheus::Registry registry_;
  Readiness readiness_;
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<prometheus::Collectable>> collectables_;  // guarded by mutex_
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_TELEMETRY_H_
