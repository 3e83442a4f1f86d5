// How many executor children are made ready at a time, and what becomes of those on their way while something is timed.
// Making a CUDA context takes 0.17 s, longer than any pause between two timings of a backlog, so a child that is on its
// way is held (stopped by a signal) while something is timed and goes on afterwards: contexts then grow in the pauses,
// several side by side, and nobody waits for one. Where children cannot be held, going quiet has to wait for them, and
// they are made in whole batches, which take about the time of one, as seldom as the pool's depth allows.
// Threading: one thread at a time. Units: children.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_REFILL_POLICY_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_REFILL_POLICY_H_

#include <cstdint>

namespace warpsmith::executor {

struct RefillLimits {
  int depth = 2;         // ready and on their way together, unless more are waited for
  int at_once = 2;       // on their way, unless more are waited for
  bool can_hold = true;  // children on their way can be stopped and go on

  // For a GPU: by the memory that idle contexts take, half a gigabyte each, and the cores that make them.
  static RefillLimits ForGpu(int64_t gpu_bytes, int cores);
};

struct PoolState {
  int ready = 0;
  int warming = 0;  // on their way, held or not
  int waiting = 0;  // callers that need one now
  bool quiet = false;
};

class RefillPolicy {
 public:
  explicit RefillPolicy(RefillLimits limits);

  // Children to start now.
  int ToStart(const PoolState& state) const;
  // Whether those on their way have to stand still now.
  bool MustHold(const PoolState& state) const;
  // Whether nothing disturbs, `moving` being how many of those on their way do not stand still.
  bool IsStill(const PoolState& state, int moving) const;
  // Holding them did harm: from here on they are waited for.
  void StopHolding() { limits_.can_hold = false; }
  const RefillLimits& limits() const { return limits_; }

 private:
  RefillLimits limits_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_REFILL_POLICY_H_
