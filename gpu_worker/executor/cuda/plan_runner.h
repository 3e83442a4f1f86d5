// Puts an execution plan's steps on a stream of the GPU, for one slot of buffers at a time. The same calls serve a
// plain launch and the recording of a graph. Threading: one thread, with the context current. Errors: a fault names the
// step.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_PLAN_RUNNER_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_PLAN_RUNNER_H_

#include <memory>
#include <string>
#include <vector>

#include "gpu_worker/executor/cuda/context.h"
#include "gpu_worker/executor/cuda/ipc_buffers.h"
#include "gpu_worker/executor/cuda/kernel_arguments.h"
#include "gpu_worker/executor/cuda/outcome.h"
#include "gpu_worker/executor/cuda/residency.h"
#include "gpu_worker/library/library_runner.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::executor {

enum class StepList { kPrepare, kSteps };

class CudaPlanRunner {
 public:
  // `plan`, `context` and `buffers` outlive the runner.
  CudaPlanRunner(const v1::ExecutionPlan& plan, CudaContext& context, const IpcBuffers& buffers);
  ~CudaPlanRunner();

  // Loads the module and each kernel of the plan, compares every launch with its kernel and opens shared memory above
  // the default.
  MaybeFault Load(const std::string& cubin);
  // Makes the library steps of all slots ready; libraries are opened here and at no other time.
  MaybeFault PrepareLibrary(const std::vector<std::string>& folders);

  int Count(StepList list) const { return Steps(list).size(); }
  // Steps [first, last) at the end of the stream.
  MaybeFault Enqueue(StepList list, int slot, int first, int last);
  CUfunction Function(uint32_t kernel) const { return kernels_[kernel]; }
  // What a run of all steps still has to load.
  Residency& residency() { return residency_; }
  // "step 0 (kernel f)", or "steps 2 to 4 (kernels f, g)".
  std::string Describe(StepList list, int first, int last) const;

 private:
  using StepsField = google::protobuf::RepeatedPtrField<v1::ExecutionStep>;
  const StepsField& Steps(StepList list) const {
    return list == StepList::kPrepare ? plan_.prepare_steps() : plan_.steps();
  }
  // What goes with each step of a list.
  struct Extra {
    std::unique_ptr<KernelArguments> arguments;  // of a kernel
    std::vector<int> library;                    // of a library step: its number in the library's runner, by slot
  };
  std::vector<Extra>& Extras(StepList list) { return list == StepList::kPrepare ? prepare_ : steps_; }

  MaybeFault LoadKernels();
  MaybeFault LoadSteps(StepList list);
  MaybeFault CheckLocalMemory(CUfunction function, const std::string& symbol) const;
  MaybeFault EnqueueStep(StepList list, int slot, int step);
  CUresult LaunchKernel(const v1::KernelLaunch& launch, void** arguments) const;
  CUresult Fill(const v1::MemsetStep& step, CUdeviceptr address) const;
  CUdeviceptr AddressOf(int slot, const v1::BufferView& view) const {
    return buffers_.Payload(slot, view.buffer()) + static_cast<uint64_t>(view.offset_bytes());
  }
  absl::Status EncodeMap(int slot, const v1::TensorMap& map, void* descriptor) const;

  const v1::ExecutionPlan& plan_;
  CudaContext& context_;
  const cuda::DriverApi& api_;
  const IpcBuffers& buffers_;
  Residency residency_;
  CUmodule module_ = nullptr;
  std::vector<CUfunction> kernels_;
  std::vector<std::vector<size_t>> parameters_;  // sizes, by kernel
  std::vector<Extra> prepare_;
  std::vector<Extra> steps_;
  std::unique_ptr<library::LibraryRunner> library_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_PLAN_RUNNER_H_
