// Runs a kernel's grid on the emulated device: threads as fibers on the calling thread, one block after another, or all
// at once for a cooperative launch. A thread that never waits costs no switch. A block whose threads only spin lets
// other blocks run beside it.
// Threading: one thread, and one scheduler a process: kernels reach it through the exported device table.
// Errors: a failed launch is a LaunchFault; what stops a kernel in the middle (an access violation, a trap) goes to the
// fault handler and does not return.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_SCHEDULER_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_SCHEDULER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu_worker/device/emulated/block.h"
#include "gpu_worker/device/emulated/fiber_pool.h"
#include "gpu_worker/device/emulated/module.h"
#include "gpu_worker/device/emulated/shared_memory.h"

namespace warpsmith::device {

enum class FaultKind { kIllegalAccess, kLaunchError, kOutOfMemory, kNeedsGpu };

struct LaunchFault {
  FaultKind kind = FaultKind::kLaunchError;
  std::string message;
};

struct LaunchShape {
  dim3 grid;
  dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;
};

class Scheduler {
 public:
  // Threads in flight at once: what a cooperative launch may have in all.
  static constexpr size_t kMaxFibers = 16384;

  // `module` and `shared` outlive the scheduler.
  Scheduler(Module& module, SharedMemory& shared);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Runs the whole grid. `arguments` point at the kernel's parameters. `seed` chooses the order of blocks and threads,
  // 0 the natural one; every block's shared memory starts filled with `shared_fill`.
  std::optional<LaunchFault> Launch(const Kernel& kernel, void** arguments, const LaunchShape& shape, uint64_t seed,
                                    uint32_t shared_fill);

  // The device table's services, for the running thread.
  uint32_t Barrier(uint32_t kind, uint32_t predicate);
  uint64_t WarpOperation(const LaneRequest& request);
  void GridBarrier();
  void Yield();

 private:
  enum class Stop { kFinished, kGrid, kSpinning, kStuck, kNoFiber };

  void RunThreads();  // a fiber's body
  Stop RunBlock(Block& block);
  void Enter(uint32_t thread);  // makes it the running thread
  void Wait();                  // the running thread pauses, another one that is ready goes on
  void BeginBlock();
  void PutInPlace(Block& block);
  std::optional<LaunchFault> RunApart();
  std::optional<LaunchFault> RunTogether();

  Module& module_;
  SharedMemory& shared_;
  FiberPool pool_;
  Kernel kernel_;
  void** arguments_ = nullptr;
  LaunchShape shape_;
  uint64_t seed_ = 0;
  uint32_t shared_fill_ = 0;
  uint32_t block_threads_ = 0;
  uint64_t blocks_ = 0;
  Order block_order_;
  std::vector<uint3> thread_indexes_;
  std::optional<uint32_t> placed_dynamic_bytes_;

  std::vector<std::unique_ptr<Block>> active_;
  std::vector<std::unique_ptr<Block>> spare_;
  Block* current_ = nullptr;   // whose threads run
  Block* in_place_ = nullptr;  // whose shared memory is in place
  uint32_t running_ = 0;
  Fiber* fiber_ = nullptr;  // the running one
  bool body_ended_ = false;
};

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_SCHEDULER_H_
