// Puts kernels on the device before they are launched. With lazy loading (child_environment.cc) a kernel's code is
// loaded at its first launch, which must be neither a timed one nor one that is being captured into a graph. A driver
// from CUDA 12.4 on loads on demand; with an older one, and for the kernels inside library steps, which have no
// handles, the plan's first run goes step by step, untimed and before any capture.
// Threading: one thread, with the context current. Errors: a fault names the kernel.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_RESIDENCY_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_RESIDENCY_H_

#include <string>
#include <vector>

#include "gpu_worker/executor/cuda/outcome.h"

namespace warpsmith::executor {

class Residency {
 public:
  explicit Residency(const cuda::DriverApi& api) : api_(api) {}

  MaybeFault Load(CUfunction function, const std::string& where);
  // There are kernels that only a run loads.
  void NeedFirstRun() { needs_run_ = true; }
  // Every step of the plan has run once.
  void NoteFirstRun() { needs_run_ = false; }
  // Nothing is loaded by a launch any more.
  bool complete() const { return !needs_run_; }

 private:
  const cuda::DriverApi& api_;
  bool needs_run_ = false;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_RESIDENCY_H_
