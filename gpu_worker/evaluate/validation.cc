#include "gpu_worker/evaluate/validation.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpsmith::evaluate {
namespace {

void AddFlag(v1::Evaluation& evaluation, const std::string& flag) {
  const auto& flags = evaluation.flags();
  if (std::find(flags.begin(), flags.end(), flag) == flags.end()) evaluation.add_flags(flag);
}

}  // namespace

Validation::Validation(ValidationPlan plan, executor::Executor& executor, reference::Oracle& oracle, Clock& clock)
    : plan_(std::move(plan)), executor_(executor), oracle_(oracle), clock_(clock) {}

double Validation::RunLimit() const {
  return std::clamp(ToSeconds(plan_.deadline - clock_.Now()), 0.001, plan_.run_limit_seconds);
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

absl::StatusOr<bool> Validation::Trial(int number, int64_t seed, const std::string& distribution,
                                       reference::OutputFill fill, const std::string& stage, v1::Evaluation& evaluation,
                                       std::string& digest) {
  reference::TrialRequest trial;
  trial.slot = number % plan_.slots;
  trial.seed = seed;
  trial.distribution = distribution;
  trial.output_fill = fill;
  trial.scratch_fill = number % 2 == 0 ? reference::ScratchFill::kPoison : reference::ScratchFill::kLarge;
  WARPSMITH_RETURN_IF_ERROR(oracle_.BeginTrial(trial));
  executor::RunRequest run;
  run.slot = trial.slot;
  run.order_seed = static_cast<uint64_t>(plan_.seed) * 1000 + static_cast<uint64_t>(number);
  run.shared_fill = number % 2 == 0 ? executor::kSharedPoison : executor::kSharedLargeFinite;
  run.limit_seconds = RunLimit();
  if (!Ran(executor_.Run(run), stage, evaluation)) return false;
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

absl::Status Validation::BeginTimed(bool poison) {
  ++timed_rounds_;
  for (int slot = 0; slot < plan_.slots; ++slot) {
    reference::TrialRequest trial;
    trial.slot = slot;
    trial.seed = plan_.seed + 1000 * timed_rounds_ + slot;
    trial.output_fill = poison ? reference::OutputFill::kPoisonA : reference::OutputFill::kKeep;
    WARPSMITH_RETURN_IF_ERROR(oracle_.BeginTrial(trial));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Validation::JudgeTimed(v1::Evaluation& evaluation) {
  for (int slot = 0; slot < plan_.slots; ++slot) {
    reference::JudgeRequest judge;
    judge.slot = slot;
    judge.accepted = plan_.accepted;
    judge.after_timed_launch = true;
    WARPSMITH_ASSIGN_OR_RETURN(reference::JudgeReport report, oracle_.Judge(judge));
    if (!Judged(report, "timed_launch", evaluation)) return false;
  }
  return true;
}

}  // namespace warpsmith::evaluate
