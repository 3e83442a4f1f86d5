#include "gpu_worker/host_code/host_code_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "common/version.h"
#include "gpu_worker/measure/statistics.h"

namespace warpsmith::host_code {
namespace {

constexpr double kLongestBatch = 10;   // seconds; slower candidates have fewer calls in a batch
constexpr int64_t kTimedSeed = 10000;  // beyond all trials' seeds
constexpr int64_t kReferenceSeed = 800000;
constexpr double kLeastOfRequest = 2;  // a batch that is shorter hangs on what a request costs
constexpr int kGlances = 7;            // besides the last call's output, right after an answer
constexpr int kLeastJudged = 4;        // slots of a batch that is not the last

uint64_t Draw() {
  static thread_local std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

bool Has(const v1::Evaluation& evaluation, const std::string& flag) {
  return std::find(evaluation.flags().begin(), evaluation.flags().end(), flag) != evaluation.flags().end();
}

void AddFlag(v1::Evaluation& evaluation, const std::string& flag) {
  if (!Has(evaluation, flag)) evaluation.add_flags(flag);
}

}  // namespace

HostCodeRun::HostCodeRun(const HostCodeRunOptions& options, const v1::ProblemSignature& signature, bool eval_mode,
                         reference::Oracle& oracle, Bench& bench, std::unique_ptr<HostCodeProcess> process,
                         int64_t seed)
    : options_(options),
      signature_(signature),
      eval_mode_(eval_mode),
      oracle_(oracle),
      bench_(bench),
      process_(std::move(process)),
      seed_(seed) {
  verdict_.request_ms = bench_.request_seconds() * 1e3;
  verdict_.reference_reached = bench_.reached();
  v1::Evaluation& evaluation = verdict_.evaluation;
  AddFlag(evaluation, "host_code");
  evaluation.set_harness_rev(kHarnessRevision);
  evaluation.set_judge_rev(kJudgeRevision);
}

absl::StatusOr<HostCodeVerdict> HostCodeRun::Run(const HostCodeCandidate& candidate) {
  const TimePoint start = RealClock().Now();
  WARPSMITH_RETURN_IF_ERROR(process_->Greet());
  WARPSMITH_RETURN_IF_ERROR(
      process_->Command("open_buffers", bench_.BuffersRequest(), std::chrono::seconds(60)).status());
  WARPSMITH_RETURN_IF_ERROR(process_->Command("close_doors", Json::object(), std::chrono::seconds(10)).status());
  // What a candidate leaves running on a GPU goes on while its process is stopped.
  if (bench_.on_gpu()) WARPSMITH_RETURN_IF_ERROR(TimeReference(seed_ + kReferenceSeed));
  WARPSMITH_ASSIGN_OR_RETURN(bool passed, Load(candidate));
  if (passed) {
    WARPSMITH_ASSIGN_OR_RETURN(passed, Trials(candidate));
  }
  if (passed) {
    WARPSMITH_ASSIGN_OR_RETURN(passed, Batches(candidate));
  }
  process_->End();
  if (passed) {
    WARPSMITH_RETURN_IF_ERROR(TimeReference(seed_ + kReferenceSeed));
    Summarise();
    verdict_.evaluation.set_outcome(v1::OUTCOME_OK);
  }
  verdict_.evaluation.set_evaluate_seconds(ToSeconds(RealClock().Now() - start));
  return verdict_;
}

bool HostCodeRun::Answered(const HostCodeAnswer& answer, const std::string& stage) {
  if (answer.outcome == v1::OUTCOME_OK) return true;
  v1::Evaluation& evaluation = verdict_.evaluation;
  evaluation.set_outcome(answer.outcome);
  evaluation.set_reason(answer.reason);
  evaluation.set_message(answer.message);
  evaluation.set_failed_stage(stage);
  return false;
}

bool HostCodeRun::Judged(const reference::JudgeReport& report, const std::string& stage) {
  v1::Evaluation& evaluation = verdict_.evaluation;
  *evaluation.add_trials() = report.verdict;
  if (report.outcome == v1::OUTCOME_OK) {
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

absl::StatusOr<bool> HostCodeRun::Load(const HostCodeCandidate& candidate) {
  const Duration limit = FromSeconds(bench_.load_limit_seconds());
  const HostCodeAnswer loaded =
      process_->Ask("load_candidate", {{"source", candidate.source}, {"constants", bench_.constants()}}, limit);
  if (!Answered(loaded, "load")) return false;
  const HostCodeAnswer built = process_->Ask(
      "build", {{"constructor", bench_.constructor()}, {"form", bench_.form()}, {"eval_mode", eval_mode_}}, limit);
  return Answered(built, "load");
}

absl::StatusOr<bool> HostCodeRun::Trial(int number, int64_t seed, const std::string& distribution, double limit,
                                        const HostCodeCandidate& candidate, std::string& digest) {
  reference::TrialRequest trial;
  trial.slot = number % bench_.slots();
  trial.seed = seed;
  trial.distribution = distribution;
  trial.output_fill = number % 2 == 0 ? reference::OutputFill::kPoisonA : reference::OutputFill::kPoisonB;
  WARPSMITH_RETURN_IF_ERROR(oracle_.BeginTrial(trial));
  const std::string stage = distribution == "plain" ? "trial" : "distribution";
  const HostCodeAnswer weights =
      process_->Ask("load_weights", {{"slot", trial.slot}}, FromSeconds(bench_.run_limit_seconds()));
  if (!Answered(weights, stage)) return false;
  if (const auto how = weights.reply.find("weights"); how != weights.reply.end() && how->is_string()) {
    const auto text = how->get<std::string>();
    for (const char* known : {"name", "order", "seed", "none"}) {
      if (text == known) verdict_.weights = text;
    }
  }
  // What the problem's own module changed in its buffers, for a problem whose answer that is.
  const bool give_back = signature_.mutates_policy() == v1::MUTATES_POLICY_REQUIRED;
  const HostCodeAnswer ran =
      process_->Ask("run", {{"slots", {trial.slot}}, {"give_back", give_back}}, FromSeconds(limit));
  if (!Answered(ran, stage)) return false;
  call_seconds_ = std::max(ran.seconds - bench_.request_seconds(), 1e-7);
  reference::JudgeRequest judge;
  judge.slot = trial.slot;
  judge.accepted = candidate.accepted;
  WARPSMITH_ASSIGN_OR_RETURN(const reference::JudgeReport report, oracle_.Judge(judge));
  digest = report.output_digest;
  return Judged(report, stage);
}

absl::StatusOr<bool> HostCodeRun::Trials(const HostCodeCandidate& candidate) {
  v1::Evaluation& evaluation = verdict_.evaluation;
  std::string first, second;
  // The first call may compile.
  WARPSMITH_ASSIGN_OR_RETURN(bool passed, Trial(0, seed_, "plain", bench_.load_limit_seconds(), candidate, first));
  if (!passed) return false;
  const double limit = bench_.run_limit_seconds();
  WARPSMITH_ASSIGN_OR_RETURN(passed, Trial(1, seed_, "plain", limit, candidate, second));
  if (!passed) return false;
  if (first != second) AddFlag(evaluation, "nondeterministic");
  int number = 2;
  for (; number <= options_.plain_trials; ++number) {
    WARPSMITH_ASSIGN_OR_RETURN(passed, Trial(number, seed_ + number, "plain", limit, candidate, first));
    if (!passed) return false;
  }
  for (const std::string& distribution : signature_.distributions()) {
    if (distribution == "plain") continue;
    // Parameters that nobody hands to the candidate cannot be drawn anew.
    if (distribution == "parameters" && (candidate.frozen_weights || verdict_.weights == "seed")) continue;
    WARPSMITH_ASSIGN_OR_RETURN(passed, Trial(number, seed_ + number, distribution, limit, candidate, first));
    if (!passed && distribution == "parameters") {
      evaluation.set_message(evaluation.message() +
                             "; these are parameters that the constructor did not see: where the candidate packs its "
                             "weights once, import it with --frozen-weights");
    }
    if (!passed) return false;
    ++number;
  }
  if (evaluation.reached() > v1::PRECISION_CLASS_FP32) AddFlag(evaluation, "imprecise");
  return true;
}

absl::Status HostCodeRun::TimeReference(int64_t seed) {
  for (int i = 0; i < options_.reference_batches; ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(reference_times_.emplace_back(), bench_.TimeReference(seed));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> HostCodeRun::Batches(const HostCodeCandidate& candidate) {
  verdict_.calls = std::clamp(static_cast<int>(kLongestBatch / call_seconds_), 1, bench_.slots());
  if (!bench_.on_gpu()) WARPSMITH_RETURN_IF_ERROR(TimeReference(seed_ + kReferenceSeed));
  const int batches =
      options_.least_batches + static_cast<int>(Draw() % static_cast<uint64_t>(options_.more_batches + 1));
  for (int number = 0; number < batches; ++number) {
    WARPSMITH_ASSIGN_OR_RETURN(const bool passed, Batch(number, number + 1 == batches, candidate));
    if (!passed) return false;
  }
  return true;
}

absl::StatusOr<bool> HostCodeRun::Batch(int number, bool last, const HostCodeCandidate& candidate) {
  std::vector<int> slots(static_cast<size_t>(verdict_.calls));
  std::iota(slots.begin(), slots.end(), 0);
  std::shuffle(slots.begin(), slots.end(), std::mt19937_64(Draw()));
  for (const int slot : slots) {
    reference::TrialRequest trial;
    trial.slot = slot;
    trial.seed = seed_ + kTimedSeed + 1000 * number + slot;
    trial.output_fill = number % 2 == 0 ? reference::OutputFill::kPoisonA : reference::OutputFill::kPoisonB;
    WARPSMITH_RETURN_IF_ERROR(oracle_.BeginTrial(trial));
  }
  WARPSMITH_RETURN_IF_ERROR(oracle_.Quiesce());
  const HostCodeAnswer weights =
      process_->Ask("load_weights", {{"slot", slots[0]}}, FromSeconds(bench_.run_limit_seconds()));
  if (!Answered(weights, "timed_launch")) return false;
  const double limit = 2 * bench_.run_limit_seconds() + 5 * call_seconds_ * verdict_.calls;
  const HostCodeAnswer ran = process_->Ask("run", {{"slots", slots}}, FromSeconds(limit),
                                           last ? HostCodeProcess::After::kKill : HostCodeProcess::After::kStop);
  if (!Answered(ran, "timed_launch")) return false;
  WARPSMITH_ASSIGN_OR_RETURN(const bool there, Written(slots));
  if (!there) return false;
  // The last call first: what is late is late there. A share of the others, and all of them in the last batch, which
  // is not to be told from the rest beforehand.
  const size_t judged = last ? slots.size() : std::min(slots.size(), std::max<size_t>(kLeastJudged, slots.size() / 4));
  std::shuffle(slots.begin(), slots.end() - 1, std::mt19937_64(Draw()));
  for (size_t i = 0; i < judged; ++i) {
    reference::JudgeRequest judge;
    judge.slot = slots[slots.size() - 1 - i];
    judge.accepted = candidate.accepted;
    judge.after_timed_launch = true;
    WARPSMITH_ASSIGN_OR_RETURN(const reference::JudgeReport report, oracle_.Judge(judge));
    if (!Judged(report, "timed_launch")) return false;
  }
  times_.push_back(std::max(ran.seconds - bench_.request_seconds(), 0.0) / verdict_.calls);
  return true;
}

// Before anything else is done: a GPU may still be at what the answer says is done.
absl::StatusOr<bool> HostCodeRun::Written(const std::vector<int>& slots) {
  std::vector<int> glance = {slots.back()};
  for (int i = 0; i < kGlances; ++i) glance.push_back(slots[Draw() % slots.size()]);
  WARPSMITH_ASSIGN_OR_RETURN(const std::string output, oracle_.Unwritten(glance));
  if (output.empty()) return true;
  v1::Evaluation& evaluation = verdict_.evaluation;
  evaluation.set_outcome(v1::OUTCOME_UNWRITTEN_OUTPUT);
  evaluation.set_message(
      fmt::format("{} was not written when the process answered that a batch of calls was done; what forward() returns "
                  "must be computed when torch.cuda.synchronize() comes back",
                  output));
  evaluation.set_failed_stage("timed_launch");
  return false;
}

void HostCodeRun::Summarise() {
  verdict_.batches = static_cast<int>(times_.size());
  const measure::Summary own = measure::Summarize(times_);
  const measure::Summary reference = measure::Summarize(reference_times_);
  v1::Evaluation& evaluation = verdict_.evaluation;
  v1::Timing& timing = *evaluation.mutable_timing();
  timing.set_median_ms(own.median * 1e3);
  timing.set_host_clock_ms(own.median * 1e3);
  timing.set_spread(own.spread);
  timing.set_samples(own.samples);
  timing.set_stage("measure");
  timing.set_anchor_ms(reference.median * 1e3);
  timing.set_launch_mode("host_code");
  for (const double seconds : times_) timing.add_sample_ms(seconds * 1e3);
  verdict_.reference_spread = reference.spread;
  if (own.median * verdict_.calls < kLeastOfRequest * bench_.request_seconds()) AddFlag(evaluation, "launch_bound");
  if (own.median > 0) evaluation.set_ratio_to_eager(reference.median / own.median);
}

}  // namespace warpsmith::host_code
