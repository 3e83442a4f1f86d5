// A worker's counters, and what is asked of its parts at scrape time.
// Threading: safe from any thread; OnDevice… as EvaluationObserver. Units: seconds.
#ifndef WARPSMITH_GPU_WORKER_METRICS_WORKER_METRICS_H_
#define WARPSMITH_GPU_WORKER_METRICS_WORKER_METRICS_H_

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/metrics/children.h"
#include "common/metrics/telemetry.h"
#include "gpu_worker/evaluate/evaluation_observer.h"
#include "gpu_worker/metrics/device_meter.h"
#include "gpu_worker/metrics/device_sampler.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::metrics {

// Asked at each scrape; none may wait. Unset: not known.
struct WorkerSources {
  std::function<absl::Status()> health;  // as Evaluator::Health
  std::function<DeviceSample()> sample;
  std::function<size_t()> spooled;
  std::function<bool()> connected;
};

class WorkerMetrics final : public evaluate::EvaluationObserver, public prometheus::Collectable {
 public:
  // Both outlive this.
  WorkerMetrics(Telemetry& telemetry, const Clock& clock);

  // Before the first assignment: the device's number.
  void SetGpu(const std::string& gpu);
  // Until SetSources({}) they must be there.
  void SetSources(WorkerSources sources);
  v1::DeviceCondition Condition() const;

  void CountResult(const v1::Assignment& assignment, const v1::TaskResult& result, double seconds);
  void OnDeviceTaken() override { meter_.Begin(); }
  void OnDeviceFreed() override { meter_.End(); }
  void OnExecutorLost(const std::string& outcome) override;

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  DeviceMeter meter_;
  Children<prometheus::Counter> evaluations_, executors_;
  Children<prometheus::Histogram> stages_;
  mutable std::mutex mutex_;
  std::string gpu_ = "0";  // guarded by mutex_
  WorkerSources sources_;  // guarded by mutex_
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_GPU_WORKER_METRICS_WORKER_METRICS_H_
