// Runs a candidate on fresh inputs and has the oracle judge each: five plain trials and one of each hard distribution,
// with alternating poison, scratch fills and launch orders; the first trial twice with the other poison, which tells
// integers that nobody wrote and results that change from run to run.
// Threading: one thread. Errors: a Status is the machine's fault; the candidate's is in the Evaluation.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_VALIDATION_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_VALIDATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/clock.h"
#include "gpu_worker/evaluate/slot_layout.h"
#include "gpu_worker/evaluate/stage_clock.h"
#include "gpu_worker/executor/executor.h"
#include "gpu_worker/reference/oracle.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::evaluate {

struct ValidationPlan {
  std::vector<std::string> distributions;  // "plain" among them or not: it is always first
  std::vector<v1::PrecisionClass> accepted;
  int plain_trials = 5;
  SlotLayout layout = SlotLayout::Shared(2);
  int64_t seed = 0;
  double run_limit_seconds = 20;
  TimePoint deadline{};  // of the whole evaluation

  // Distinct inputs that the trials of a problem with this many distributions have.
  static int TrialInputs(int plain_trials, int distributions) { return plain_trials + std::max(distributions - 1, 0); }
};

class Validation {
 public:
  // The first trial's inputs; its executor may still be starting.
  static absl::Status BeginFirstTrial(const ValidationPlan& plan, reference::Oracle& oracle, StageClock& stages);

  // `first_begun`: BeginFirstTrial has been called for this plan.
  Validation(ValidationPlan plan, executor::Executor& executor, reference::Oracle& oracle, Clock& clock,
             StageClock& stages, bool first_begun = false);

  // True: everything passed so far. False: `evaluation` has the outcome.
  absl::StatusOr<bool> FirstTrial(v1::Evaluation& evaluation);
  absl::StatusOr<bool> RemainingTrials(v1::Evaluation& evaluation);

  // Inputs in every timing slot for launches that are timed next; outputs poisoned, or left as they are. The slice's
  // own inputs, or new ones that no candidate has met. A layout without slots of their own for timing gets new ones
  // each time, since trials have overwritten the last.
  absl::Status BeginTimed(bool poison, bool new_inputs);
  // Judges what the last launch left in each timing slot, or in one of them.
  absl::StatusOr<bool> JudgeTimed(v1::Evaluation& evaluation);
  absl::StatusOr<bool> JudgeTimedSlot(int slot, v1::Evaluation& evaluation);

  // Time left until the evaluation's deadline, at most the limit of one run, or of several.
  double RunLimit(int runs = 1) const;
  // Records the executor's verdict if it is not ok.
  bool Ran(const executor::RunReport& report, const std::string& stage, v1::Evaluation& evaluation);

  const SlotLayout& layout() const { return plan_.layout; }
  StageClock& stages() { return stages_; }

 private:
  absl::StatusOr<bool> Trial(int number, int64_t seed, const std::string& distribution, reference::OutputFill fill,
                             const std::string& stage, v1::Evaluation& evaluation, std::string& digest);
  bool Judged(const reference::JudgeReport& report, const std::string& stage, v1::Evaluation& evaluation);

  const ValidationPlan plan_;
  executor::Executor& executor_;
  reference::Oracle& oracle_;
  Clock& clock_;
  StageClock& stages_;
  const bool first_begun_;
  int new_rounds_ = 0;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_VALIDATION_H_
