// The state of one block in flight: which of its threads wait for what. Pure bookkeeping: it runs nothing.
// A thread that has ended counts as arrived at every barrier, as on current GPUs.
// Threading: one thread.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_BLOCK_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_BLOCK_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu_worker/device/emulated/fiber_pool.h"
#include "gpu_worker/device/emulated/warp_operations.h"

namespace warpsmith::device {

// A permutation of 0..count-1 that a seed chooses, one after another; seed 0 is the natural order.
class Order {
 public:
  Order() = default;
  Order(uint64_t count, uint64_t seed);
  // At most `count` times.
  uint64_t Next() {
    uint64_t value = at_;
    at_ = at_ >= count_ - step_ ? at_ - (count_ - step_) : at_ + step_;
    return value;
  }

 private:
  uint64_t count_ = 1, step_ = 1, at_ = 0;  // step and count have no common divisor
};

class Block {
 public:
  static constexpr uint32_t kMaxThreads = 1024;

  void Reset(uint3 index, uint32_t threads, uint64_t seed);

  uint3 index() const { return index_; }
  uint32_t threads() const { return threads_; }
  bool finished() const { return live_ == 0; }
  bool waits_for_grid() const { return at_grid_ > 0 && at_grid_ == live_; }
  uint32_t at_grid() const { return at_grid_; }
  uint32_t live() const { return live_; }

  // The next thread that has not begun, in the block's order.
  bool HasUnstarted() const { return started_ < threads_; }
  uint32_t StartNext() {
    ++started_;
    return static_cast<uint32_t>(order_.Next());
  }
  bool HasReady() const { return ready_count_ > 0; }
  uint32_t TakeReady();
  void PutReady(uint32_t thread);

  void SetFiber(uint32_t thread, Fiber* fiber) { fibers_[thread] = fiber; }
  Fiber* fiber(uint32_t thread) const { return fibers_[thread]; }

  // True: the thread may go on; false: it waits.
  bool ArriveAtBarrier(uint32_t thread, uint32_t predicate);
  uint32_t BarrierResult(uint32_t kind) const;
  bool ArriveAtWarp(uint32_t thread, const LaneRequest& request);
  uint64_t WarpResult(uint32_t thread) const { return warps_[thread / 32].results[thread % 32]; }
  void ArriveAtGrid(uint32_t thread);
  void ReleaseFromGrid();
  void End(uint32_t thread);

  // Nothing else can run: those that asked for the active lanes are the active lanes. False: nobody asked.
  bool ResolveActiveMasks();

  // "8 of 64 threads wait at __syncthreads, 24 ended, ..."
  std::string Describe() const;

  uint64_t progress = 0;           // grows whenever a thread gets anywhere but around a loop
  std::vector<char> saved_shared;  // while another block's shared memory is in place
  bool has_saved_shared = false;

 private:
  struct Warp {
    std::array<LaneRequest, 32> requests;
    std::array<uint64_t, 32> results;
    uint32_t waiting = 0;
    uint32_t gone = 0;  // ended, or never there
  };

  // Completes the operation that `lane` waits for where everybody is there; makes all but `running` ready.
  bool TryComplete(uint32_t warp, uint32_t lane, uint32_t running);
  void ReleaseBarrier(uint32_t running);

  uint3 index_{};
  uint32_t threads_ = 0, live_ = 0, started_ = 0;
  Order order_;
  uint64_t seed_ = 0;
  std::array<uint16_t, kMaxThreads> ready_{};  // a ring
  uint32_t ready_first_ = 0, ready_count_ = 0;
  std::vector<uint16_t> barrier_waiters_, grid_waiters_;
  uint32_t at_grid_ = 0;
  uint32_t arrived_ = 0, predicate_count_ = 0, predicate_and_ = 1;
  std::array<uint32_t, 4> barrier_results_{};
  std::array<Warp, kMaxThreads / 32> warps_;
  std::array<Fiber*, kMaxThreads> fibers_{};
};

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_BLOCK_H_
