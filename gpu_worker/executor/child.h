// The executor child's conversation: warms up and says so, reads its spec, locks itself down, and only then runs the
// candidate as asked. Whatever the candidate does, the process says at most one thing more about it and ends.
// Threading: the process's only thread of ours.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_H_

#include "gpu_worker/executor/child_job.h"

namespace warpsmith::executor {

// Speaks over standard input and output; the exit status. `job` is never destroyed.
int RunChildProcess(ChildJob& job);

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_H_
