// Runs a plan as a request asks: a batch back to back, or samples each from a known state of caches and memory.
// The clock is CUDA's events, less what two of them in a row show. A candidate can write over their memory; the
// parent's clock around a batch tells. Threading: one thread, with the context current. Units: seconds. Source of the
// method: the cold measurements of nvbench and of CUDA benchmark harnesses after it.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_TIMER_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_TIMER_H_

#include <map>
#include <vector>

#include "gpu_worker/executor/cuda/context.h"
#include "gpu_worker/executor/cuda/ipc_buffers.h"
#include "gpu_worker/executor/cuda/launcher.h"
#include "gpu_worker/executor/executor.pb.h"

namespace warpsmith::executor {

class CudaTimer {
 public:
  CudaTimer(const v1::ExecutionPlan& plan, CudaContext& context, CudaPlanRunner& runner, Launcher& launcher,
            const IpcBuffers& buffers);

  absl::Status CreateEvents();
  MaybeFault Run(const wire::Request& request, wire::Report& report);

 private:
  MaybeFault Fail(CUresult result) const;
  MaybeFault Launch(int slot);
  MaybeFault FirstRun(int slot);
  MaybeFault PrepareSlots(const wire::Request& request);
  MaybeFault Batch(const wire::Request& request, wire::Report& report);
  MaybeFault Cold(const wire::Request& request, wire::Report& report);
  MaybeFault Warm(const wire::Request& request, wire::Report& report);
  MaybeFault ColdRun(int slot, const wire::Request& request, CUevent before, CUevent after);
  MaybeFault CalibrateEvents();
  MaybeFault Poison(int slot);
  MaybeFault Elapsed(CUevent before, CUevent after, double& seconds) const;

  const v1::ExecutionPlan& plan_;
  CudaContext& context_;
  const cuda::DriverApi& api_;
  CudaPlanRunner& runner_;
  Launcher& launcher_;
  const IpcBuffers& buffers_;
  std::vector<CUevent> events_;
  bool calibrated_ = false;
  double event_seconds_ = 0;
  bool prepared_ = false;  // some slot
  bool ran_ = false;       // the candidate, once
  bool launched_ = false;  // or something of it at least
  double prepare_seconds_ = 0;
  uint32_t poisons_ = 0;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_TIMER_H_
