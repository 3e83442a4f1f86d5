// What an executor child does between its start and its end, on the one device or the other.
// Threading: the process's only thread of ours. Errors: Prepare's are the machine's; what becomes of the candidate is
// in the reports, and one that is not OK is the last thing that the process says.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_JOB_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_JOB_H_

#include <string>

#include "common/status.h"
#include "gpu_worker/executor/executor.pb.h"

namespace warpsmith::executor {

class ChildJob {
 public:
  virtual ~ChildJob() = default;
  // All that does not depend on the candidate. Whatever fails here, Prepare says.
  virtual void Warm() {}
  // Takes the buffers, reads the candidate and locks the process down. The text is for the log: what the sandbox could
  // not have here.
  virtual absl::StatusOr<std::string> Prepare(wire::Spec spec) = 0;
  virtual wire::Report Run(const wire::Request& request) = 0;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_JOB_H_
