// A TaskRunner that tells what came of each assignment. Threading: as TaskRunner.
#ifndef WARPSMITH_GPU_WORKER_METRICS_OBSERVED_TASK_RUNNER_H_
#define WARPSMITH_GPU_WORKER_METRICS_OBSERVED_TASK_RUNNER_H_

#include "gpu_worker/metrics/worker_metrics.h"
#include "gpu_worker/session/task_runner.h"

namespace warpsmith::metrics {

class ObservedTaskRunner final : public session::TaskRunner {
 public:
  // Both outlive this.
  ObservedTaskRunner(session::TaskRunner& runner, WorkerMetrics& metrics, Clock& clock)
      : runner_(runner), metrics_(metrics), clock_(clock) {}

  v1::TaskResult Run(const v1::Assignment& assignment, std::stop_token stop) override;

 private:
  session::TaskRunner& runner_;
  WorkerMetrics& metrics_;
  Clock& clock_;
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_GPU_WORKER_METRICS_OBSERVED_TASK_RUNNER_H_
