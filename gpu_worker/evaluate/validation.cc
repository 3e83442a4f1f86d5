#include "gpu_worker/evaluate/validation.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu_worker/evaluate/flags.h"

namespace warpsmith::evaluate {

Validation::Validation(ValidationPlan plan, executor::Executor& executor, reference::Oracle& oracle, Clock& clock,
                       StageClock& stages, bool first_begun)
    : plan_(std::move(plan)),
      executor_(executor),
      oracle_(oracle),
      clock_(clock),
      stages_(stages),
      first_begun_(first_begun) {}

double Validation::RunLimit(int runs) const {
  return std::clamp(ToSeconds(plan_.deadline - clock_.Now()), 0.001, plan_.run_limit_seconds * std::max(runs, 1));
}

bool Validation::Ran(const executor::RunReport& report, const std::string& stage, v1::Evaluation& evaluation) {
  if (report.outcome == v1::OUTCOME_OK) return true;
  evaluation.set_outcome(report.outcome);
  evaluation.set_message(report.message);
  evaluation.set_failed_stage(stage);
  return false;
}

bool Validation::Judged(const reference::JudgeReport& report, const std::string& stage, v1::Evaluation& evaluation) {
  *evaluation.add_trials() = report.verdict;
  if (report.outcome == v1::OUTCOME_OK) {
    // The loosest class over all trials is the one reached.
    if (!report.left_out && report.verdict.reached() > evaluation.reached()) {
      evaluation.set_reached(report.verdict.reached());
    }
    return true;
  }
  evaluation.set_outcome(report.outcome);
  evaluation.set_message(report.message);
  evaluation.set_failed_stage(stage);
  if (report.outcome == v1::OUTCOME_WRONG_OUTPUT || report.outcome == v1::OUTCOME_NON_FINITE) {
    *evaluation.mutable_mismatch() = report.mismatch;
  }
  return false;
}

namespace {

reference::TrialRequest TrialOf(const ValidationPlan& plan, int number, int64_t seed, const std::string& distribution,
                                reference::OutputFill fill) {
  reference::TrialRequest trial;
  trial.slot = plan.layout.TrialSlot(number);
  trial.seed = seed;
  trial.distribution = distribution;
  trial.output_fill = fill;
  trial.scratch_fill = number % 2 == 0 ? reference::ScratchFill::kPoison : reference::ScratchFill::kLarge;
  return trial;
}

}  // namespace

absl::Status Validation::BeginFirstTrial(const ValidationPlan& plan, reference::Oracle& oracle, StageClock& stages) {
  StageClock::Span span(stages, Stage::kInputs);
  return oracle.BeginTrial(TrialOf(plan, 0, plan.seed, "plain", reference::OutputFill::kPoisonA));
}

absl::StatusOr<bool> Validation::Trial(int number, int64_t seed, const std::string& distribution,
                                       reference::OutputFill fill, const std::string& stage, v1::Evaluation& evaluation,
                                       std::string& digest) {
  const reference::TrialRequest trial = TrialOf(plan_, number, seed, distribution, fill);
  if (number > 0 || !first_begun_) {
    StageClock::Span span(stages_, Stage::kInputs);
    WARPSMITH_RETURN_IF_ERROR(oracle_.BeginTrial(trial));
  }
  executor::RunRequest run;
  run.slot = trial.slot;
  run.order_seed = static_cast<uint64_t>(plan_.seed) * 1000 + static_cast<uint64_t>(number);
  run.shared_fill = number % 2 == 0 ? executor::kSharedPoison : executor::kSharedLargeFinite;
  run.limit_seconds = RunLimit();
  {
    StageClock::Span span(stages_, Stage::kRun);
    if (!Ran(executor_.Run(run), stage, evaluation)) return false;
  }
  StageClock::Span span(stages_, Stage::kJudge);
  reference::JudgeRequest judge;
  judge.slot = trial.slot;
  judge.accepted = plan_.accepted;
  WARPSMITH_ASSIGN_OR_RETURN(reference::JudgeReport report, oracle_.Judge(judge));
  digest = report.output_digest;
  return Judged(report, stage, evaluation);
}

absl::StatusOr<bool> Validation::FirstTrial(v1::Evaluation& evaluation) {
  std::string first, second;
  WARPSMITH_ASSIGN_OR_RETURN(
      bool passed, Trial(0, plan_.seed, "plain", reference::OutputFill::kPoisonA, "trial", evaluation, first));
  if (!passed) return false;
  WARPSMITH_ASSIGN_OR_RETURN(
      passed, Trial(1, plan_.seed, "plain", reference::OutputFill::kPoisonB, "trial", evaluation, second));
  if (passed && first != second) AddFlag(evaluation, "nondeterministic");
  return passed;
}

absl::StatusOr<bool> Validation::RemainingTrials(v1::Evaluation& evaluation) {
  std::string digest;
  int number = 2;
  for (; number <= plan_.plain_trials; ++number) {
    auto fill = number % 2 == 0 ? reference::OutputFill::kPoisonA : reference::OutputFill::kPoisonB;
    // Outputs that look right already must not keep a kernel from its work.
    if (number == plan_.plain_trials) fill = reference::OutputFill::kStale;
    WARPSMITH_ASSIGN_OR_RETURN(bool passed,
                               Trial(number, plan_.seed + number, "plain", fill, "trial", evaluation, digest));
    if (!passed) return false;
  }
  for (const std::string& distribution : plan_.distributions) {
    if (distribution == "plain") continue;
    auto fill = number % 2 == 0 ? reference::OutputFill::kPoisonA : reference::OutputFill::kPoisonB;
    WARPSMITH_ASSIGN_OR_RETURN(
        bool passed, Trial(number, plan_.seed + number, distribution, fill, "distribution", evaluation, digest));
    if (!passed) return false;
    ++number;
  }
  if (evaluation.reached() > v1::PRECISION_CLASS_FP32) AddFlag(evaluation, "imprecise");
  return true;
}

absl::Status Validation::BeginTimed(bool poison, bool new_inputs) {
  StageClock::Span span(stages_, Stage::kInputs);
  const bool dedicated = plan_.layout.dedicated;
  if (new_inputs || !dedicated) ++new_rounds_;
  const int round = !dedicated ? new_rounds_ : new_inputs ? 1 + new_rounds_ : 1;
  for (size_t i = 0; i < plan_.layout.timing.size(); ++i) {
    reference::TrialRequest trial;
    trial.slot = plan_.layout.timing[i];
    trial.seed = plan_.seed + 1000 * round + static_cast<int64_t>(i);
    trial.output_fill = poison ? reference::OutputFill::kPoisonA : reference::OutputFill::kKeep;
    WARPSMITH_RETURN_IF_ERROR(oracle_.BeginTrial(trial));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Validation::JudgeTimed(v1::Evaluation& evaluation) {
  for (int slot : plan_.layout.timing) {
    WARPSMITH_ASSIGN_OR_RETURN(bool passed, JudgeTimedSlot(slot, evaluation));
    if (!passed) return false;
  }
  return true;
}

absl::StatusOr<bool> Validation::JudgeTimedSlot(int slot, v1::Evaluation& evaluation) {
  StageClock::Span span(stages_, Stage::kJudge);
  reference::JudgeRequest judge;
  judge.slot = slot;
  judge.accepted = plan_.accepted;
  judge.after_timed_launch = true;
  WARPSMITH_ASSIGN_OR_RETURN(reference::JudgeReport report, oracle_.Judge(judge));
  return Judged(report, "timed_launch", evaluation);
}

}  // namespace warpsmith::evaluate
