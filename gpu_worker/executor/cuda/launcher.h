// Launches a plan for a slot: as a CUDA graph made once a slot, or step by step where the plan cannot be recorded.
// Threading: one thread, with the context current. Errors: a fault names the step, or the steps among which it was.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_LAUNCHER_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_LAUNCHER_H_

#include <vector>

#include "gpu_worker/executor/cuda/context.h"
#include "gpu_worker/executor/cuda/graph_budget.h"
#include "gpu_worker/executor/cuda/outcome.h"
#include "gpu_worker/executor/cuda/plan_runner.h"

namespace warpsmith::executor {

class Launcher {
 public:
  Launcher(CudaContext& context, CudaPlanRunner& runner, int slots);

  // Makes what Launch needs for the slot, its graph, and puts it on the device.
  MaybeFault MakeReady(int slot);
  // The plan's steps at the end of the stream.
  MaybeFault Launch(int slot);
  // Step by step, waiting in between, so that a fault is known by its step. For the first run of a candidate.
  MaybeFault LaunchSlowly(StepList list, int slot);
  // Waits; what went wrong in any launch so far.
  MaybeFault Wait();

  const char* mode() const { return use_graphs_ ? "graph" : "stream"; }

 private:
  // False: the plan cannot be recorded.
  bool Record(int slot);
  void Drop(int slot);

  CudaContext& context_;
  const cuda::DriverApi& api_;
  CudaPlanRunner& runner_;
  bool use_graphs_ = true;
  std::vector<CUgraphExec> graphs_;  // by slot; null: not made
  GraphBudget budget_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_LAUNCHER_H_
