#include "gpu_worker/evaluate/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/hash.h"
#include "common/log.h"
#include "common/protocol_names.h"
#include "common/version.h"
#include "gpu_worker/evaluate/flags.h"
#include "gpu_worker/evaluate/rating.h"

namespace warpsmith::evaluate {
namespace {

// Of v1.Baseline.
const char* const kBaselines[] = {"eager",           "eager_tf32_off",       "eager_graph",
                                  "compile_default", "compile_max_autotune", "library"};

// Which of two variants' evaluations is kept: a correct one, the faster of two, else the one that came furthest.
bool Better(const v1::Evaluation& a, const v1::Evaluation& b) {
  bool a_ok = a.outcome() == v1::OUTCOME_OK, b_ok = b.outcome() == v1::OUTCOME_OK;
  if (a_ok && b_ok) return a.timing().median_ms() < b.timing().median_ms();
  if (a_ok != b_ok) return a_ok;
  if (b.outcome() == v1::OUTCOME_INFRA_ERROR) return a.outcome() != v1::OUTCOME_INFRA_ERROR;
  return a.outcome() != v1::OUTCOME_INFRA_ERROR && a.outcome() > b.outcome();
}

// The executor is gone, and what its kernel did to the device is to be seen.
bool EndedAbnormally(v1::Outcome outcome) {
  return outcome == v1::OUTCOME_TIMEOUT || outcome == v1::OUTCOME_ILLEGAL_ACCESS ||
         outcome == v1::OUTCOME_LAUNCH_ERROR || outcome == v1::OUTCOME_INFRA_ERROR;
}

}  // namespace

std::string ProblemId(const std::string& source, const v1::IntakeSettings& settings) {
  return Sha256Hex(
      fmt::format("{}\n{}\n{}\n{}", settings.eval_mode(), settings.tolerance(), settings.require_mutations(), source));
}

Evaluator::Evaluator(EvaluatorOptions options, compile::Compiler& compiler, executor::ExecutorFactory& executors,
                     reference::Oracle& oracle, Clock& clock, GpuServices services)
    : options_(std::move(options)),
      builder_(options_, compiler),
      executors_(executors),
      oracle_(oracle),
      clock_(clock),
      services_(std::move(services)),
      quiet_(executors, /*enabled=*/!options_.device.emulated()),
      slices_(options_.slice_candidates, options_.slice_age, clock,
              options_.entropy ? options_.entropy : SystemEntropy()) {}

absl::Status Evaluator::Health() const {
  std::lock_guard lock(health_mutex_);
  return health_;
}

void Evaluator::SetHealth(const absl::Status& health) {
  std::lock_guard lock(health_mutex_);
  if (!health.ok() && health_.ok()) spdlog::error("the device is not to be trusted: {}", Message(health));
  if (health.ok() && !health_.ok()) spdlog::info("the device is well again");
  health_ = health;
}

v1::Evaluation Evaluator::Evaluate(const EvaluateRequest& request, std::stop_token stop) {
  TimePoint started = clock_.Now();
  v1::Evaluation best;
  v1::StageSeconds seconds;
  auto candidate = plan::ParseCandidate(request.candidate);
  if (!candidate.ok()) {
    SetPlanError(candidate.status(), "parse", best);
    seconds.set_parse(ToSeconds(clock_.Now() - started));
  } else {
    std::vector<plan::TuneAssignment> variants =
        plan::TuneVariants(candidate->plan, std::max<size_t>(1, options_.max_tune_variants));
    EvaluateRequest of_variant = request;
    bool first = true;
    double gpu_seconds = 0;
    for (const plan::TuneAssignment& tune : variants) {
      if (stop.stop_requested()) return InfraError("the evaluation was cancelled");
      v1::Evaluation evaluation = EvaluateVariant(of_variant, *candidate, tune, stop);
      AddSeconds(evaluation.stage_seconds(), seconds);
      gpu_seconds += evaluation.gpu_seconds();
      for (auto& [name, value] : tune) (*evaluation.mutable_tune())[name] = value;
      if (first || Better(evaluation, best)) best = std::move(evaluation);
      first = false;
      // On a GPU a variant far behind the best one so far is not measured out.
      if (!options_.device.emulated() && best.outcome() == v1::OUTCOME_OK) {
        double so_far = best.timing().median_ms();
        if (of_variant.incumbent_ms <= 0 || so_far < of_variant.incumbent_ms) of_variant.incumbent_ms = so_far;
      }
    }
    best.set_gpu_seconds(gpu_seconds);
    best.set_tune_variants(static_cast<int>(variants.size()));
    RateAgainstBaselines(request.problem, options_.device.emulated(), best);
  }
  *best.mutable_stage_seconds() = seconds;
  best.set_harness_rev(kHarnessRevision);
  best.set_judge_rev(kJudgeRevision);
  best.set_worker_id(options_.worker_id);
  best.set_evaluate_seconds(ToSeconds(clock_.Now() - started));
  return best;
}

v1::Evaluation Evaluator::EvaluateVariant(const EvaluateRequest& request, const plan::Candidate& candidate,
                                          const plan::TuneAssignment& tune, std::stop_token stop) {
  v1::Evaluation evaluation;
  StageClock stages(clock_);
  BuiltCandidate built;
  if (builder_.Build(request, candidate, tune, stages, built, evaluation)) {
    absl::Status status = TakeTurnAndRun(request, built, stages, stop, evaluation);
    if (status.ok() && evaluation.outcome() == v1::OUTCOME_UNSPECIFIED)
      status = Cancelled("the evaluation was cancelled");
    if (!status.ok()) {
      v1::CompileReport report = evaluation.compile();
      double gpu_seconds = evaluation.gpu_seconds();
      evaluation = InfraError(Message(status));
      *evaluation.mutable_compile() = std::move(report);
      evaluation.set_gpu_seconds(gpu_seconds);
    }
  }
  *evaluation.mutable_stage_seconds() = stages.Seconds();
  return evaluation;
}

absl::Status Evaluator::BuildIncumbent(const EvaluateRequest& request, StageClock& stages, BuiltCandidate& built) {
  WARPSMITH_ASSIGN_OR_RETURN(plan::Candidate incumbent, plan::ParseCandidate(request.incumbent));
  v1::Evaluation evaluation;
  // The tuning that it was measured with is not known here: its first.
  plan::TuneAssignment tune = plan::TuneVariants(incumbent.plan, 1).front();
  if (!builder_.Build(request, incumbent, tune, stages, built, evaluation))
    return InvalidArgument(evaluation.message());
  return absl::OkStatus();
}

absl::Status Evaluator::CheckDevice() {
  absl::Status health;
  if (executors_.Wedged()) {
    wedged_ = true;
    health = FailedPrecondition(
        fmt::format("{}: a process on it could not be ended, not even by SIGKILL; stop this worker, then reset the GPU "
                    "(nvidia-smi --gpu-reset) or restart the machine",
                    options_.device.name()));
    if (services_.guard != nullptr) services_.guard->OnEnd(CandidateEnd::kUnkillable, "a process cannot be ended");
  } else if (services_.guard != nullptr) {
    if (wedged_) services_.guard->OnUnkillableGone();
    wedged_ = false;
    health = services_.guard->Ready();
  }
  SetHealth(health);
  return health;
}

absl::Status Evaluator::NoteEnd(absl::Status status, const v1::Evaluation& evaluation) {
  if (services_.guard == nullptr) return status;
  bool abnormal = !status.ok() || EndedAbnormally(evaluation.outcome());
  std::string what = status.ok() ? OutcomeName(evaluation.outcome()) : Message(status);
  bool to_blame = services_.guard->OnEnd(abnormal ? CandidateEnd::kAbnormal : CandidateEnd::kClean, what);
  if (status.ok() && abnormal && !to_blame) {
    return Unavailable(fmt::format("{} ({}), but the driver reports an error that the candidate did not cause",
                                   OutcomeName(evaluation.outcome()), evaluation.message()));
  }
  return status;
}

absl::Status Evaluator::TakeTurnAndRun(const EvaluateRequest& request, const BuiltCandidate& built, StageClock& stages,
                                       std::stop_token stop, v1::Evaluation& evaluation) {
  BuiltCandidate incumbent;
  std::string incumbent_error;
  bool compare = request.stage == "confirm" && !request.incumbent.empty();
  if (compare) {
    absl::Status ready = BuildIncumbent(request, stages, incumbent);
    if (!ready.ok()) incumbent_error = Message(ready);
    compare = ready.ok();
  }
  WARPSMITH_ASSIGN_OR_RETURN(CandidateFiles files, CandidateFiles::Write(built, compare ? &incumbent : nullptr));
  std::optional<DeviceTurn::Hold> turn;
  std::shared_ptr<void> lock;
  {
    StageClock::Span span(stages, Stage::kQueue);
    turn = turn_.Take(request.problem.id(), stop);
    if (!turn) return Cancelled("the evaluation was cancelled");
    WARPSMITH_RETURN_IF_ERROR(CheckDevice());
    if (services_.guard != nullptr) {
      WARPSMITH_ASSIGN_OR_RETURN(lock, services_.guard->Lock());
    }
  }
  TimePoint started = clock_.Now();
  const DeviceHold hold(*options_.observer);
  const bool own_seed = options_.device.emulated() || request.reproduce;
  RunJob job{request, built, compare ? &incumbent : nullptr, files, {}};
  if (own_seed) {
    job.slice = {request.seed, /*fresh=*/true};
    slices_.End();
  } else {
    job.slice = slices_.Next(request.problem.id());
  }
  job.random_seed = options_.entropy ? options_.entropy() : SystemEntropy()();
  absl::Status status;
  {
    RunParts parts{options_, executors_, quiet_, oracle_, clock_, services_.guard, services_.profiler};
    CandidateRun run(parts, job, stages);
    status = run.Run(stop, anchor_, evaluation);
  }  // the executor ends before the next one's turn
  quiet_.End();
  if (!status.ok()) slices_.End();  // the oracle may have been restarted
  const bool lost = status.ok() ? EndedAbnormally(evaluation.outcome()) : !stop.stop_requested();
  if (lost) {
    options_.observer->OnExecutorLost(OutcomeName(status.ok() ? evaluation.outcome() : v1::OUTCOME_INFRA_ERROR));
  }
  status = NoteEnd(std::move(status), evaluation);
  if (!incumbent_error.empty()) evaluation.mutable_confirmation()->set_incumbent_error(incumbent_error);
  evaluation.set_gpu_seconds(ToSeconds(clock_.Now() - started));
  return status;
}

absl::StatusOr<v1::IntakeResult> Evaluator::Intake(const std::string& name, const std::string& source,
                                                   const v1::IntakeSettings& settings, BaselineEffort effort) {
  auto turn = turn_.Take(ProblemId(source, settings), {});  // baselines are timed
  std::shared_ptr<void> lock;
  if (!options_.device.emulated()) {
    WARPSMITH_RETURN_IF_ERROR(CheckDevice());
    if (services_.guard != nullptr) {
      WARPSMITH_ASSIGN_OR_RETURN(lock, services_.guard->Lock());
    }
    // Intake and baselines are processes of their own, and want the memory.
    WARPSMITH_RETURN_IF_ERROR(oracle_.Release());
    slices_.End();
  }
  const DeviceHold hold(*options_.observer);
  WARPSMITH_ASSIGN_OR_RETURN(v1::IntakeResult result, oracle_.Intake(name, source, settings));
  if (result.error().empty() && !options_.device.emulated()) {
    WARPSMITH_RETURN_IF_ERROR(AddBaselines(name, source, settings, effort, result));
  }
  return result;
}

absl::Status Evaluator::AddBaselines(const std::string& name, const std::string& source,
                                     const v1::IntakeSettings& settings, BaselineEffort effort,
                                     v1::IntakeResult& result) {
  BaselineKey key = services_.baseline_key;
  key.problem_id = ProblemId(source, settings);
  key.harness_rev = kHarnessRevision;
  std::optional<std::vector<v1::Baseline>> baselines;
  if (services_.baselines != nullptr) baselines = services_.baselines->Load(key);
  if (!baselines && effort == BaselineEffort::kAll) {
    quiet_.Begin();
    auto timed = oracle_.Baselines(name, source, settings, {std::begin(kBaselines), std::end(kBaselines)});
    quiet_.End();
    WARPSMITH_RETURN_IF_ERROR(timed.status());
    if (services_.baselines != nullptr) services_.baselines->Store(key, *timed);
    baselines = *std::move(timed);
  }
  if (!baselines) return absl::OkStatus();
  // Those of the intake itself stay where no better ones came.
  for (v1::Baseline& baseline : *baselines) {
    auto* list = result.mutable_baselines();
    auto same = std::find_if(list->begin(), list->end(),
                             [&](const v1::Baseline& other) { return other.name() == baseline.name(); });
    if (same != list->end()) {
      if (baseline.median_ms() > 0 || same->median_ms() <= 0) *same = std::move(baseline);
    } else {
      *list->Add() = std::move(baseline);
    }
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::evaluate
