// Runs an execution plan's steps on the emulated device, for one set of buffers at a time.
// Threading: one thread. Errors: what stops the plan is a LaunchFault that names the step.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_PLAN_RUNNER_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_PLAN_RUNNER_H_

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "gpu_worker/device/emulated/device.h"
#include "gpu_worker/executor/buffer_map.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::executor {

// Everything in the plan that reaches into a buffer stays inside it. Before anything is loaded.
absl::Status CheckPlanBounds(const v1::ExecutionPlan& plan);
// The largest dynamic array of any launch, in bytes.
uint32_t MaxDynamicSharedBytes(const v1::ExecutionPlan& plan);

class PlanRunner {
 public:
  // `plan`, `buffers`, `module` and `shared` outlive the runner.
  PlanRunner(const v1::ExecutionPlan& plan, const BufferMap& buffers, device::Module& module,
             device::SharedMemory& shared);

  // Looks the kernels up and compares the launches' arguments with their parameters.
  std::optional<device::LaunchFault> Prepare();

  std::optional<device::LaunchFault> Run(int slot, uint64_t order_seed, uint32_t shared_fill);

  // The step that runs, for messages from a signal handler.
  static const char* Where();

 private:
  struct Argument {
    bool pointer = false;
    uint32_t buffer = 0;
    int64_t offset = 0;
    size_t literal = 0;  // place in literals_
  };
  // Structures by value may want this alignment.
  struct alignas(64) LiteralWord {
    char bytes[64];
  };
  struct Launch {
    device::Kernel kernel;
    device::LaunchShape shape;
    std::vector<Argument> arguments;
  };

  std::optional<device::LaunchFault> PrepareLaunch(const v1::KernelLaunch& step, int index);
  void SetWhere(int step);

  const v1::ExecutionPlan& plan_;
  const BufferMap& buffers_;
  device::Module& module_;
  device::Scheduler scheduler_;
  std::vector<device::Kernel> kernels_;
  std::vector<Launch> launches_;  // of the kernel steps, in order
  std::vector<LiteralWord> literals_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_PLAN_RUNNER_H_
