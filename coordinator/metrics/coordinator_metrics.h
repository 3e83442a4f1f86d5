// The coordinator's own counters: what commits, what workers' results say, how the fleet does. They are counted once
// what they tell of has been committed.
// Threading: safe from any thread. Units: seconds, dollars.
#ifndef WARPSMITH_COORDINATOR_METRICS_COORDINATOR_METRICS_H_
#define WARPSMITH_COORDINATOR_METRICS_COORDINATOR_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <atomic>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/metrics/children.h"
#include "common/metrics/telemetry.h"
#include "coordinator/engine/engine_observer.h"
#include "coordinator/metrics/fleet_book.h"
#include "coordinator/metrics/observed_database.h"

namespace warpsmith::metrics {

class CoordinatorMetrics final : public engine::EngineObserver, public DatabaseObserver {
 public:
  // Both outlive this.
  CoordinatorMetrics(Telemetry& telemetry, Clock& clock);

  void SetLeader(bool leads) { leader_.Set(leads ? 1 : 0); }
  bool leads() const { return leader_.Value() > 0; }
  // What is known from before this process; an improvement since then stands.
  void SeedLastImprovement(double unix_seconds);
  FleetFigures fleet() const { return fleet_.Figures(); }
  double last_improvement() const { return last_improvement_; }  // 0: none

  void OnTurn(Duration duration) override { turns_.Observe(ToSeconds(duration)); }
  void OnFleet(const std::vector<engine::FleetMember>& members) override;
  void OnEvaluation(const std::string& worker_id, const std::string& stage, const v1::Evaluation& evaluation) override;
  void OnIntake(bool refused, double seconds) override;
  void OnStale(int results) override { stale_.Increment(results); }

  void OnCommitted(const CommittedCounts& counts) override;
  void OnDatabaseError(absl::StatusCode code) override;

 private:
  void ObserveStage(const char* stage, double seconds);

  Clock& clock_;
  FleetBook fleet_;
  prometheus::Gauge& leader_;
  Children<prometheus::Counter> claims_, rescues_, results_, candidates_, busy_, restarts_, errors_;
  Children<prometheus::Histogram> stages_, waits_, speedups_;
  prometheus::Counter& stale_;
  prometheus::Counter& improvements_;
  prometheus::Histogram& turns_;
  std::atomic<double> last_improvement_{0};
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COORDINATOR_METRICS_COORDINATOR_METRICS_H_
