// The executor child's work on a GPU: a context made before the candidate is known, the oracle's buffers over CUDA IPC,
// the plan as a graph a slot.
// Threading: one thread of ours; the driver has its own.
// Errors: FailedPrecondition in a build without CUDA's headers.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_JOB_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_JOB_H_

#include <memory>
#include <string>
#include <vector>

#include "gpu_worker/executor/child_job.h"

namespace warpsmith::executor {

struct CudaJobOptions {
  bool restrict_files = true;                // Landlock, where the kernel has it
  std::vector<std::string> library_folders;  // where cuBLAS and cuDNN lie
};

std::unique_ptr<ChildJob> MakeCudaJob(CudaJobOptions options);

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_JOB_H_
