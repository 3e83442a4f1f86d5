#include "coordinator/metrics/coordinator_metrics.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "common/metrics/buckets.h"
#include "common/metrics/build_info.h"
#include "common/protocol_names.h"

namespace warpsmith::metrics {
namespace {

constexpr const char* kTaskKinds[] = {"intake", "propose", "implement", "repair", "evaluate"};
constexpr const char* kRescueReasons[] = {"lease", "deadline", "restart"};

prometheus::Family<prometheus::Counter>& CounterOf(Telemetry& telemetry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(telemetry.registry());
}
prometheus::Family<prometheus::Histogram>& HistogramOf(Telemetry& telemetry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(telemetry.registry());
}
prometheus::Family<prometheus::Gauge>& GaugeOf(Telemetry& telemetry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(telemetry.registry());
}

// "RESOURCE_EXHAUSTED" to "resource_exhausted".
std::string CodeName(absl::StatusCode code) {
  std::string name = absl::StatusCodeToString(code);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

}  // namespace

CoordinatorMetrics::CoordinatorMetrics(Telemetry& telemetry, Clock& clock)
    : clock_(clock),
      fleet_(clock),
      leader_(GaugeOf(telemetry, "warpsmith_is_leader", "Whether this coordinator leads").Add({})),
      claims_(CounterOf(telemetry, "warpsmith_claims_total", "Tasks handed out, each attempt"), {"kind"}),
      rescues_(CounterOf(telemetry, "warpsmith_rescues_total", "Tasks taken from a worker"), {"reason"}),
      results_(CounterOf(telemetry, "warpsmith_results_total", "Ends of tasks that were recorded"),
               {"kind", "outcome"}),
      candidates_(CounterOf(telemetry, "warpsmith_candidates_total", "Candidates that got their first verdict"),
                  {"outcome"}),
      busy_(CounterOf(telemetry, "warpsmith_gpu_busy_seconds_total", "Device time of recorded evaluations"),
            {"node", "gpu"}),
      restarts_(CounterOf(telemetry, "warpsmith_worker_restarts_total", "Workers that came back as a new process"),
                {"node", "reason"}),
      errors_(
          CounterOf(telemetry, "warpsmith_database_errors_total", "Statements, commits and connections that failed"),
          {"code"}),
      stages_(HistogramOf(telemetry, "warpsmith_stage_duration_seconds",
                          "Stages of recorded evaluations and intakes, wall time at the worker"),
              {"stage"}, TimeBuckets()),
      waits_(HistogramOf(telemetry, "warpsmith_task_wait_seconds", "From a task's insertion to its first start"),
             {"kind"}, TimeBuckets()),
      speedups_(HistogramOf(telemetry, "warpsmith_speedup_ratio", "PyTorch's time over that of a search's new best"),
                {"device"}, SpeedupBuckets()),
      stale_(CounterOf(telemetry, "warpsmith_stale_completions_total", "Results refused because their epoch was over")
                 .Add({})),
      improvements_(CounterOf(telemetry, "warpsmith_improvements_total",
                              "A search's best became another, faster kernel; its first correct one counts")
                        .Add({})),
      turns_(HistogramOf(telemetry, "warpsmith_turn_duration_seconds", "One turn of the thread that serves all workers")
                 .Add({}, TimeBuckets())) {
  AddBuildInfo(telemetry, "warpsmith_build_info");
  for (const char* kind : kTaskKinds) claims_.With({kind});
  for (const char* reason : kRescueReasons) rescues_.With({reason});
  candidates_.With({"rejected"});
  for (int outcome = v1::Outcome_MIN; outcome <= v1::Outcome_MAX; ++outcome) {
    if (!v1::Outcome_IsValid(outcome) || outcome == v1::OUTCOME_UNSPECIFIED) continue;
    const std::string name = OutcomeName(static_cast<v1::Outcome>(outcome));
    candidates_.With({name});
    results_.With({"evaluate", name});
  }
  for (const char* outcome : {"ok", "refused", "infra_error"}) results_.With({"intake", outcome});
  for (const char* kind : {"propose", "implement", "repair"}) {
    for (const char* outcome : {"ok", "budget", "failed"}) results_.With({kind, outcome});
  }
}

void CoordinatorMetrics::SeedLastImprovement(double unix_seconds) {
  double expected = 0;
  if (unix_seconds > 0) last_improvement_.compare_exchange_strong(expected, unix_seconds);
}

void CoordinatorMetrics::OnFleet(const std::vector<engine::FleetMember>& members) {
  for (const FleetRestart& restart : fleet_.Update(members)) restarts_.With({restart.node, restart.reason}).Increment();
}

void CoordinatorMetrics::ObserveStage(const char* stage, double seconds) {
  if (std::isfinite(seconds) && seconds > 0) stages_.With({stage}).Observe(seconds);
}

void CoordinatorMetrics::OnEvaluation(const std::string& worker_id, const std::string& stage,
                                      const v1::Evaluation& evaluation) {
  const std::string outcome = OutcomeName(evaluation.outcome());
  results_.With({"evaluate", outcome}).Increment();
  // A confirmation judges a kernel that has had its verdict.
  if (stage != "confirm") candidates_.With({outcome}).Increment();
  const v1::StageSeconds& seconds = evaluation.stage_seconds();
  ObserveStage("compile", seconds.parse() + seconds.compile());
  ObserveStage("wait", seconds.queue());
  ObserveStage("validate", seconds.load() + seconds.prepare() + seconds.start() + seconds.inputs() + seconds.run() +
                               seconds.judge());
  ObserveStage("time", seconds.measure() + seconds.reference());
  ObserveStage("profile", seconds.profile());
  const double busy = evaluation.gpu_seconds();
  if (std::isfinite(busy) && busy > 0) {
    const FleetPlace place = fleet_.PlaceOf(worker_id);
    busy_.With({place.node, place.gpu}).Increment(busy);
  }
}

void CoordinatorMetrics::OnIntake(bool refused, double seconds) {
  results_.With({"intake", refused ? "refused" : "ok"}).Increment();
  ObserveStage("intake", seconds);
}

void CoordinatorMetrics::OnCommitted(const CommittedCounts& counts) {
  for (const auto& [kind, count] : counts.claims) claims_.With({kind}).Increment(count);
  for (const auto& [kind, seconds] : counts.waits) waits_.With({kind}).Observe(std::max(0.0, seconds));
  for (const auto& [reason, count] : counts.rescues) rescues_.With({reason}).Increment(count);
  for (const auto& [labels, count] : counts.results) results_.With({labels.first, labels.second}).Increment(count);
  for (const auto& [outcome, count] : counts.candidates) candidates_.With({outcome}).Increment(count);
  for (const Improvement& improvement : counts.improvements) {
    improvements_.Increment();
    last_improvement_ = static_cast<double>(clock_.WallMicros()) * 1e-6;
    if (improvement.ratio > 0) speedups_.With({improvement.emulated ? "emulated" : "gpu"}).Observe(improvement.ratio);
  }
}

void CoordinatorMetrics::OnDatabaseError(absl::StatusCode code) { errors_.With({CodeName(code)}).Increment(); }

}  // namespace warpsmith::metrics
