// Runs an execution plan's steps on the emulated device, for one set of buffers at a time.
// Threading: one thread. Errors: what stops the plan is a LaunchFault that names the step.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_EMULATED_PLAN_RUNNER_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_EMULATED_PLAN_RUNNER_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu_worker/device/emulated/device.h"
#include "gpu_worker/executor/emulated/buffer_map.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::executor {

class EmulatedPlanRunner {
 public:
  // `plan`, `buffers`, `module` and `shared` outlive the runner.
  EmulatedPlanRunner(const v1::ExecutionPlan& plan, const BufferMap& buffers, device::Module& module,
                     device::SharedMemory& shared);

  // Looks the kernels up and compares the launches' arguments with their parameters.
  std::optional<device::LaunchFault> Load();

  // The plan's prepare steps, then as often as wanted its steps.
  std::optional<device::LaunchFault> Prepare(int slot, uint64_t order_seed, uint32_t shared_fill);
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

  using Steps = google::protobuf::RepeatedPtrField<v1::ExecutionStep>;
  // A list of steps and the launches among them, in order.
  struct Sequence {
    const Steps* steps = nullptr;
    bool prepare = false;
    std::vector<Launch> launches;
  };

  std::optional<device::LaunchFault> LoadSequence(Sequence& sequence);
  std::optional<device::LaunchFault> LoadLaunch(const v1::KernelLaunch& step, const std::string& name,
                                                Sequence& sequence);
  std::optional<device::LaunchFault> RunSequence(const Sequence& sequence, int slot, uint64_t order_seed,
                                                 uint32_t shared_fill);

  const v1::ExecutionPlan& plan_;
  const BufferMap& buffers_;
  device::Module& module_;
  device::Scheduler scheduler_;
  std::vector<device::Kernel> kernels_;
  Sequence prepare_;
  Sequence steps_;
  std::vector<LiteralWord> literals_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_EMULATED_PLAN_RUNNER_H_
