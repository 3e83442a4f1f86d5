#include "gpu_worker/metrics/observed_task_runner.h"

namespace warpsmith::metrics {

v1::TaskResult ObservedTaskRunner::Run(const v1::Assignment& assignment, std::stop_token stop) {
  const TimePoint started = clock_.Now();
  v1::TaskResult result = runner_.Run(assignment, stop);
  // What was cancelled is nobody's result.
  if (!stop.stop_requested()) metrics_.CountResult(assignment, result, ToSeconds(clock_.Now() - started));
  return result;
}

}  // namespace warpsmith::metrics
