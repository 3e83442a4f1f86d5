// The executor child's work on the emulated device.
// Threading: one thread.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_EMULATED_JOB_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_EMULATED_JOB_H_

#include <memory>

#include "gpu_worker/executor/child_job.h"

namespace warpsmith::executor {

std::unique_ptr<ChildJob> MakeEmulatedJob();

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_EMULATED_JOB_H_
