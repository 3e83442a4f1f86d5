#include "gpu_worker/evaluate/candidate_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/log.h"
#include "gpu_worker/evaluate/confirmation.h"
#include "gpu_worker/evaluate/flags.h"
#include "gpu_worker/evaluate/rating.h"

namespace warpsmith::evaluate {
namespace {

constexpr int kEmulatedSlots = 2;
constexpr int kTimingSlots = 2;
constexpr auto kAnchorAge = std::chrono::seconds(60);

}  // namespace

absl::StatusOr<CandidateFiles> CandidateFiles::Write(const BuiltCandidate& candidate, const BuiltCandidate* incumbent) {
  WARPSMITH_ASSIGN_OR_RETURN(TemporaryDirectory folder, TemporaryDirectory::Create("warpsmith"));
  CandidateFiles files(std::move(folder));
  WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(files.candidate(), candidate.artifact));
  if (incumbent != nullptr) WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(files.incumbent(), incumbent->artifact));
  return files;
}

SharedBuffers ShareBuffers(const v1::ExecutionPlan& first, const v1::ExecutionPlan& second) {
  SharedBuffers shared;
  shared.plan = first;
  for (const v1::ExecutionBuffer& buffer : second.buffers()) {
    int at = 0;
    while (at < first.buffers_size() &&
           (first.buffers(at).kind() == v1::BUFFER_KIND_SCRATCH || first.buffers(at).name() != buffer.name())) {
      ++at;
    }
    if (buffer.kind() == v1::BUFFER_KIND_SCRATCH || at == first.buffers_size()) {
      at = shared.plan.buffers_size();
      *shared.plan.add_buffers() = buffer;
      shared.plan.mutable_buffers(at)->set_name("incumbent." + buffer.name());
    }
    shared.of_second.push_back(at);
  }
  return shared;
}

absl::Status CandidateRun::Prepare() {
  const v1::Problem& problem = job_.request.problem;
  {
    StageClock::Span span(stages_, Stage::kLoad);
    WARPSMITH_RETURN_IF_ERROR(
        parts_.oracle.Load(problem.id(), problem.name(), problem.source(), job_.request.settings, problem.signature()));
  }
  SharedBuffers shared;
  shared.plan = job_.candidate.plan;
  if (job_.incumbent != nullptr) shared = ShareBuffers(job_.candidate.plan, job_.incumbent->plan);
  std::string folder = job_.files.folder();
  if (emulated()) {
    WARPSMITH_ASSIGN_OR_RETURN(buffers_, TemporaryDirectory::Create("warpsmith", parts_.options.shared_memory));
    folder = buffers_->path();
  }
  int wanted =
      emulated() ? kEmulatedSlots
                 : ValidationPlan::TrialInputs(parts_.options.plain_trials, problem.signature().distributions_size()) +
                       kTimingSlots;
  executor::ExecutorSpec& spec = spec_;
  {
    StageClock::Span span(stages_, Stage::kPrepare);
    WARPSMITH_ASSIGN_OR_RETURN(spec.slots, parts_.oracle.Prepare(folder, shared.plan, wanted));
  }
  int slots = static_cast<int>(spec.slots.size());
  if (slots == 0) return Internal("the oracle prepared no slot");
  layout_ = emulated() ? SlotLayout::Shared(slots) : SlotLayout::Dedicated(slots);

  executor::ExecutorSpec incumbent;
  if (job_.incumbent != nullptr) {
    incumbent.artifact_path = job_.files.incumbent();
    incumbent.plan = job_.incumbent->plan;
    incumbent.address_space_bytes = parts_.options.candidate_memory_bytes;
    for (auto& slot : spec.slots) {
      auto& of_incumbent = incumbent.slots.emplace_back();
      for (int at : shared.of_second) of_incumbent.push_back(slot[static_cast<size_t>(at)]);
      slot.resize(static_cast<size_t>(job_.candidate.plan.buffers_size()));
    }
    StageClock::Span span(stages_, Stage::kStart);
    absl::StatusOr<std::unique_ptr<executor::Executor>> started = parts_.executors.Start(incumbent);
    if (started.ok()) {
      incumbent_ = *std::move(started);
    } else {
      incumbent_error_ = Message(started.status());
    }
  }
  spec.artifact_path = job_.files.candidate();
  spec.plan = job_.candidate.plan;
  spec.address_space_bytes = parts_.options.candidate_memory_bytes;
  // On a GPU the first inputs are made meanwhile; emulated, the two would only share the cores.
  starting_ = std::async(emulated() ? std::launch::deferred : std::launch::async,
                         [this] { return parts_.executors.Start(spec_); });
  return absl::OkStatus();
}

double CandidateRun::RunLimitSeconds() const {
  double limit = parts_.options.run_limit_seconds;
  if (emulated()) return limit;
  for (const v1::Baseline& baseline : job_.request.problem.baselines()) {
    if (baseline.name() != "eager" || baseline.emulated() || baseline.median_ms() <= 0) continue;
    return std::clamp(baseline.median_ms() * 1e-3 * parts_.options.run_limit_of_eager,
                      std::min(parts_.options.shortest_run_limit_seconds, limit), limit);
  }
  return limit;
}

absl::Status CandidateRun::Run(std::stop_token stop, Anchor& anchor, v1::Evaluation& evaluation) {
  WARPSMITH_RETURN_IF_ERROR(Prepare());
  const v1::Problem& problem = job_.request.problem;
  ValidationPlan plan;
  plan.distributions = {problem.signature().distributions().begin(), problem.signature().distributions().end()};
  plan.accepted = job_.request.accepted;
  plan.plain_trials = parts_.options.plain_trials;
  plan.layout = layout_;
  plan.seed = job_.slice.seed;
  plan.run_limit_seconds = RunLimitSeconds();
  plan.deadline = parts_.clock.Now() + FromSeconds(parts_.options.evaluation_limit_seconds);
  const absl::Status begun = Validation::BeginFirstTrial(plan, parts_.oracle, stages_);
  {
    StageClock::Span span(stages_, Stage::kStart);
    WARPSMITH_ASSIGN_OR_RETURN(executor_, starting_.get());
  }
  WARPSMITH_RETURN_IF_ERROR(begun);
  validation_ = std::make_unique<Validation>(std::move(plan), *executor_, parts_.oracle, parts_.clock, stages_,
                                             /*first_begun=*/true);
  gate_ = std::make_unique<ThrottleGate>(parts_.guard, parts_.clock);
  MeasurementOptions measurement = parts_.options.measurement;
  measurement.random_seed = job_.random_seed;
  if (confirming() && !emulated()) measurement.batch_seconds = parts_.options.confirmation.batch_seconds;
  measurement_ = std::make_unique<Measurement>(measurement, *executor_, *validation_, *gate_, parts_.clock);
  return Judge(stop, anchor, evaluation);
}

void CandidateRun::BeginQuiet() {
  StageClock::Span span(stages_, Stage::kQuiet);
  parts_.quiet.Begin();
}

absl::Status CandidateRun::Quiesce() {
  if (emulated() || !job_.slice.fresh) return absl::OkStatus();
  StageClock::Span span(stages_, Stage::kInputs);
  return parts_.oracle.Quiesce();
}

absl::StatusOr<bool> CandidateRun::ScreenAndValidate(std::stop_token stop, v1::Timing& timing,
                                                     v1::Evaluation& evaluation) {
  WARPSMITH_ASSIGN_OR_RETURN(bool passed, validation_->FirstTrial(evaluation));
  if (!passed || stop.stop_requested()) return false;
  WARPSMITH_RETURN_IF_ERROR(Quiesce());
  BeginQuiet();
  WARPSMITH_ASSIGN_OR_RETURN(passed, measurement_->WarmUp(evaluation));
  if (!passed) return false;
  WARPSMITH_RETURN_IF_ERROR(validation_->BeginTimed(/*poison=*/true, /*new_inputs=*/false));
  WARPSMITH_ASSIGN_OR_RETURN(passed, measurement_->Screen(timing, evaluation));
  parts_.quiet.End();
  if (!passed) return false;
  const bool behind = !confirming() && measurement_->MuchSlowerThan(job_.request.incumbent_ms, timing);
  WARPSMITH_ASSIGN_OR_RETURN(passed, validation_->JudgeTimed(evaluation));
  if (!passed) return false;
  if (behind && !emulated()) {
    // Right on all that it was tried on; not worth the rest, and no parent.
    AddFlag(evaluation, "screened");
    evaluation.set_reason("screened");
    return true;
  }
  WARPSMITH_ASSIGN_OR_RETURN(passed, validation_->RemainingTrials(evaluation));
  return passed && !stop.stop_requested();
}

absl::StatusOr<bool> CandidateRun::MeasureAndConfirm(v1::Timing& timing, v1::Evaluation& evaluation) {
  // Slots of their own keep their inputs; what the trials did to the module's tensors is undone for them.
  WARPSMITH_RETURN_IF_ERROR(validation_->BeginTimed(/*poison=*/false, /*new_inputs=*/!layout_.dedicated));
  BeginQuiet();
  WARPSMITH_ASSIGN_OR_RETURN(bool passed, measurement_->Measure(timing, evaluation));
  if (!confirming()) {
    // The process has nothing left to do, and ending a context takes the driver as long as judging what it left.
    executor_.reset();
    parts_.quiet.End();
  }
  if (!passed) {
    // A wrong output of these launches says more than a strange time.
    if (emulated() || evaluation.outcome() != v1::OUTCOME_SUSPICIOUS) return false;
    v1::Evaluation judged = evaluation;
    WARPSMITH_ASSIGN_OR_RETURN(bool right, validation_->JudgeTimed(judged));
    if (!right) {
      judged.clear_reason();
      evaluation = std::move(judged);
    }
    return false;
  }
  WARPSMITH_ASSIGN_OR_RETURN(passed, validation_->JudgeTimed(evaluation));
  if (!passed) return false;
  if (!confirming()) return true;
  timing.set_stage("confirm");
  if (parts_.options.confirmation.seconds <= 0 || (emulated() && job_.request.incumbent.empty())) return true;
  v1::Confirmation& confirmed = *evaluation.mutable_confirmation();
  confirmed.set_incumbent_error(incumbent_error_);
  Confirmation confirmation(parts_.options.confirmation, *executor_, incumbent_.get(), parts_.oracle, *validation_,
                            *gate_);
  return confirmation.Run(timing, static_cast<uint64_t>(job_.request.seed), confirmed, evaluation);
}

absl::Status CandidateRun::TakeAnchor(Anchor& anchor, v1::Timing& timing) {
  const std::string& problem_id = job_.request.problem.id();
  if (confirming() || anchor.problem_id != problem_id || parts_.clock.Now() - anchor.taken > kAnchorAge) {
    StageClock::Span span(stages_, Stage::kReference);
    parts_.quiet.Begin();
    WARPSMITH_ASSIGN_OR_RETURN(reference::ReferenceTime time,
                               parts_.oracle.TimeReference(parts_.options.anchor_seconds));
    anchor = {problem_id, time.median_ms, parts_.clock.Now()};
  }
  timing.set_anchor_ms(anchor.median_ms);
  return absl::OkStatus();
}

void CandidateRun::Profile(const v1::Timing& timing, v1::Evaluation& evaluation) {
  const EvaluateRequest& asked = job_.request;
  bool winner = asked.incumbent_ms <= 0 || timing.median_ms() < asked.incumbent_ms;
  bool wanted = asked.profile || (asked.profile_winner && parts_.profiler != nullptr && winner);
  if (!wanted || HasFlag(evaluation, "screened")) return;
  if (parts_.profiler == nullptr) {
    AddFlag(evaluation, "profile_unavailable");
    return;
  }
  StageClock::Span span(stages_, Stage::kProfile);
  executor_.reset();  // one process on these buffers at a time
  profile::ProfileRequest request;
  request.slot = layout_.trials.front();
  request.measured_ms = timing.median_ms();
  absl::StatusOr<v1::Profile> profile = parts_.profiler->Run(spec_, request);
  if (!profile.ok()) {
    spdlog::warn("no profile: {}", Message(profile.status()));
    evaluation.mutable_profile()->set_unavailable_reason(Message(profile.status()));
  }
  if (!profile.ok() || !profile->unavailable_reason().empty()) AddFlag(evaluation, "profile_unavailable");
  if (profile.ok()) *evaluation.mutable_profile() = *std::move(profile);
}

absl::Status CandidateRun::Judge(std::stop_token stop, Anchor& anchor, v1::Evaluation& evaluation) {
  v1::Timing timing;
  timing.set_device_name(parts_.options.device.name());
  timing.set_emulated(emulated());
  WARPSMITH_ASSIGN_OR_RETURN(bool passed, ScreenAndValidate(stop, timing, evaluation));
  // On the emulated device a candidate far behind the incumbent is wholly validated, and stays at its few samples.
  const bool screened = HasFlag(evaluation, "screened");
  if (passed && !screened && (confirming() || !measurement_->MuchSlowerThan(job_.request.incumbent_ms, timing))) {
    WARPSMITH_ASSIGN_OR_RETURN(passed, MeasureAndConfirm(timing, evaluation));
  }
  if (passed) {
    passed =
        RateAgainstRoofline(job_.request.problem.signature(), parts_.options.peaks, timing.median_ms(), evaluation);
  }
  if (!passed) {
    // What was measured belongs to the finding.
    if (evaluation.outcome() == v1::OUTCOME_SUSPICIOUS) *evaluation.mutable_timing() = std::move(timing);
    return absl::OkStatus();
  }
  WARPSMITH_RETURN_IF_ERROR(TakeAnchor(anchor, timing));
  Profile(timing, evaluation);
  *evaluation.mutable_timing() = std::move(timing);
  evaluation.set_outcome(v1::OUTCOME_OK);
  // On a GPU inputs and answers stay for the next candidate.
  return emulated() ? parts_.oracle.Release() : absl::OkStatus();
}

}  // namespace warpsmith::evaluate
