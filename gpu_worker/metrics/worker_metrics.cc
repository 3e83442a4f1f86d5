#include "gpu_worker/metrics/worker_metrics.h"

#include <cmath>
#include <utility>

#include "common/metrics/bounded_labels.h"
#include "common/metrics/buckets.h"
#include "common/metrics/build_info.h"
#include "common/metrics/families.h"
#include "common/protocol_names.h"

namespace warpsmith::metrics {
namespace {

constexpr const char* kLostReasons[] = {"timeout", "illegal_access", "launch_error", "infra_error"};

}  // namespace

WorkerMetrics::WorkerMetrics(Telemetry& telemetry, const Clock& clock)
    : meter_(clock),
      evaluations_(prometheus::BuildCounter()
                       .Name("warpsmith_evaluations_total")
                       .Help("Evaluations that ended")
                       .Register(telemetry.registry()),
                   {"gpu", "outcome"}),
      executors_(prometheus::BuildCounter()
                     .Name("warpsmith_executor_restarts_total")
                     .Help("Executors that a candidate took down")
                     .Register(telemetry.registry()),
                 {"gpu", "reason"}),
      stages_(prometheus::BuildHistogram()
                  .Name("warpsmith_evaluation_stage_seconds")
                  .Help("Where the wall time of evaluations and intakes went")
                  .Register(telemetry.registry()),
              {"gpu", "stage"}, TimeBuckets()) {
  AddBuildInfo(telemetry, "warpsmith_worker_build_info");
}

void WorkerMetrics::SetGpu(const std::string& gpu) {
  const std::string label = CleanLabel(gpu);
  {
    const std::lock_guard lock(mutex_);
    gpu_ = label;
  }
  for (int outcome = v1::Outcome_MIN; outcome <= v1::Outcome_MAX; ++outcome) {
    if (!v1::Outcome_IsValid(outcome) || outcome == v1::OUTCOME_UNSPECIFIED) continue;
    evaluations_.With({label, OutcomeName(static_cast<v1::Outcome>(outcome))});
  }
  for (const char* reason : kLostReasons) executors_.With({label, reason});
}

void WorkerMetrics::SetSources(WorkerSources sources) {
  const std::lock_guard lock(mutex_);
  sources_ = std::move(sources);
}

v1::DeviceCondition WorkerMetrics::Condition() const {
  // Held while they are asked: whoever sets others may then let go of what these look at.
  const std::lock_guard lock(mutex_);
  const WorkerSources& now = sources_;
  v1::DeviceCondition condition;
  if (now.health) {
    const absl::Status health = now.health();
    condition.set_wedged(health.code() == absl::StatusCode::kFailedPrecondition);
    condition.set_retired(health.code() == absl::StatusCode::kDataLoss);
  }
  if (now.sample) condition.set_throttled(now.sample().throttled.value_or(false));
  return condition;
}

void WorkerMetrics::CountResult(const v1::Assignment& assignment, const v1::TaskResult& result, double seconds) {
  std::string gpu;
  {
    const std::lock_guard lock(mutex_);
    gpu = gpu_;
  }
  const auto stage = [&](const char* name, double took) {
    if (std::isfinite(took) && took > 0) stages_.With({gpu, name}).Observe(took);
  };
  if (assignment.has_intake()) {
    if (result.has_intake()) stage("intake", seconds);
    return;
  }
  if (!result.has_evaluation()) {
    evaluations_.With({gpu, OutcomeName(v1::OUTCOME_INFRA_ERROR)}).Increment();
    return;
  }
  evaluations_.With({gpu, OutcomeName(result.evaluation().outcome())}).Increment();
  const v1::StageSeconds& took = result.evaluation().stage_seconds();
  stage("parse", took.parse());
  stage("compile", took.compile());
  stage("queue", took.queue());
  stage("load", took.load());
  stage("prepare", took.prepare());
  stage("start", took.start());
  stage("inputs", took.inputs());
  stage("run", took.run());
  stage("judge", took.judge());
  stage("measure", took.measure());
  stage("reference", took.reference());
  stage("profile", took.profile());
  stage("quiet", took.quiet());
  stage("clocks", took.clocks());
}

void WorkerMetrics::OnExecutorLost(const std::string& outcome) {
  std::string gpu;
  {
    const std::lock_guard lock(mutex_);
    gpu = gpu_;
  }
  executors_.With({gpu, outcome}).Increment();
}

std::vector<prometheus::MetricFamily> WorkerMetrics::Collect() const {
  const std::lock_guard lock(mutex_);
  const WorkerSources& now = sources_;
  const prometheus::Labels gpu{{"gpu", gpu_}};
  DeviceSample sample;  // not by ?:, of which g++ 12 thinks that it may stay unset
  if (now.sample) sample = now.sample();
  const auto flag = [](bool set) { return set ? 1.0 : 0.0; };
  Families families;
  families.Gauge("warpsmith_gpu_busy_ratio", "Share of the last minute in which the device was taken")
      .Value(gpu, meter_.Ratio());
  families.Counter("warpsmith_gpu_busy_seconds_total", "Time in which the device was taken")
      .Value(gpu, meter_.Seconds());
  families.Gauge("warpsmith_gpu_throttled", "Whether it is slowed down for heat or by the power supply");
  if (sample.throttled) families.Value(gpu, flag(*sample.throttled));
  families.Gauge("warpsmith_gpu_wedged", "Whether a process on it cannot be ended");
  if (now.health) families.Value(gpu, flag(now.health().code() == absl::StatusCode::kFailedPrecondition));
  families.Gauge("warpsmith_gpu_temperature_celsius", "Temperature of the GPU").Value(gpu, sample.celsius);
  families.Gauge("warpsmith_gpu_power_watts", "Power that the GPU draws").Value(gpu, sample.watts);
  families.Gauge("warpsmith_gpu_memory_used_bytes", "Memory of the GPU in use").Value(gpu, sample.used_bytes);
  families.Gauge("warpsmith_spooled_results", "Results that the coordinator has not acknowledged yet");
  if (now.spooled) families.Value({}, static_cast<double>(now.spooled()));
  families.Gauge("warpsmith_coordinator_connected", "Whether the coordinator has answered on the open stream");
  if (now.connected) families.Value({}, flag(now.connected()));
  return families.Take();
}

}  // namespace warpsmith::metrics
