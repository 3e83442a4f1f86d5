// What a worker does with an assignment.
// Threading: Run is called from several threads at once, one an assignment.
#ifndef WARPSMITH_GPU_WORKER_SESSION_TASK_RUNNER_H_
#define WARPSMITH_GPU_WORKER_SESSION_TASK_RUNNER_H_

#include <stop_token>

#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::session {

class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  // Always a result: what the machine is to blame for is its infra_error. `stop` asks for an early end; the result is
  // dropped then. Task id, epoch and seconds are filled by the caller.
  virtual v1::TaskResult Run(const v1::Assignment& assignment, std::stop_token stop) = 0;
};

}  // namespace warpsmith::session

#endif  // WARPSMITH_GPU_WORKER_SESSION_TASK_RUNNER_H_
