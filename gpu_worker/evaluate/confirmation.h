// The last word on a candidate's speed: it, the reference and the incumbent are timed in turn, forwards and backwards
// in each round, on inputs that are new every round; the ratios of their medians come with an interval.
// Threading: one thread. Units: milliseconds, seconds. Errors: a Status is the machine's fault; the candidate's is in
// the Evaluation, and the result false; an incumbent that fails is told in the Confirmation.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_CONFIRMATION_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_CONFIRMATION_H_

#include <cstdint>
#include <vector>

#include "gpu_worker/evaluate/throttle_gate.h"
#include "gpu_worker/evaluate/validation.h"
#include "gpu_worker/executor/executor.h"
#include "gpu_worker/reference/oracle.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::evaluate {

struct ConfirmationOptions {
  double seconds = 2;  // of timed work, all together; 0: only where there is an incumbent to compare with
  int rounds = 8;
  int resamples = 2000;
  double batch_seconds = 0.5;  // for the parent's clock
  int fewest_samples = 3;      // of each in each half of a round
  int most_samples = 25;
  int most_coarse_samples = 150;  // where the clock's ticks are coarse beside the time
};

class Confirmation {
 public:
  // `incumbent` may be null.
  Confirmation(ConfirmationOptions options, executor::Executor& candidate, executor::Executor* incumbent,
               reference::Oracle& oracle, Validation& validation, ThrottleGate& gate);

  // `timing` has the candidate's median; `seed` is of the resampling.
  absl::StatusOr<bool> Run(v1::Timing& timing, uint64_t seed, v1::Confirmation& confirmation,
                           v1::Evaluation& evaluation);

 private:
  struct Round {
    std::vector<double> candidate, reference, incumbent;
  };

  absl::StatusOr<bool> TakeRound(Round& round, v1::Confirmation& confirmation, v1::Evaluation& evaluation);
  absl::StatusOr<bool> TimeCandidate(Round& round, v1::Evaluation& evaluation);
  absl::Status TimeReference(Round& round);
  void TimeIncumbent(Round& round, v1::Confirmation& confirmation);
  executor::TimeRequest Request(double each_ms) const;
  double ChunkSeconds() const;

  const ConfirmationOptions options_;
  executor::Executor& candidate_;
  executor::Executor* incumbent_;
  reference::Oracle& oracle_;
  Validation& validation_;
  ThrottleGate& gate_;
  bool coarse_ = false;
  double candidate_ms_ = 0;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_CONFIRMATION_H_
