#include "gpu_worker/evaluate/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/file.h"
#include "common/hash.h"
#include "common/version.h"

namespace warpsmith::evaluate {
namespace {

constexpr int kSlots = 2;
constexpr double kAnchorSeconds = 0.2;
constexpr auto kAnchorAge = std::chrono::seconds(60);

v1::Evaluation InfraError(const std::string& message) {
  v1::Evaluation evaluation;
  evaluation.set_outcome(v1::OUTCOME_INFRA_ERROR);
  evaluation.set_message(message);
  return evaluation;
}

void SetPlanError(const absl::Status& status, const std::string& stage, v1::Evaluation& evaluation) {
  evaluation.set_outcome(plan::PlanErrorOutcome(status));
  evaluation.set_reason(plan::PlanErrorReason(status));
  evaluation.set_message(Message(status));
  evaluation.set_failed_stage(stage);
}

void FillCompileReport(const compile::CompileResult& result, const std::vector<std::string>& architectures,
                       v1::CompileReport& report) {
  for (const std::string& architecture : architectures) report.add_architectures(architecture);
  report.set_seconds(result.seconds);
  report.set_cached(result.cached);
  report.set_log(result.log);
  if (!result.artifact.empty()) report.set_artifact_sha256(Sha256Hex(result.artifact));
  for (const plan::KernelInterface& kernel : result.kernels) {
    v1::KernelResources* resources = report.add_kernels();
    resources->set_name(kernel.plan_name);
    resources->set_registers(kernel.registers);
    resources->set_static_shared_bytes(kernel.static_shared_bytes);
    resources->set_local_bytes(kernel.local_bytes);
    resources->set_max_threads_per_block(kernel.max_threads_per_block);
  }
}

// Which of two variants' evaluations is kept: a correct one, the faster of two, else the one that came furthest.
bool Better(const v1::Evaluation& a, const v1::Evaluation& b) {
  bool a_ok = a.outcome() == v1::OUTCOME_OK, b_ok = b.outcome() == v1::OUTCOME_OK;
  if (a_ok && b_ok) return a.timing().median_ms() < b.timing().median_ms();
  if (a_ok != b_ok) return a_ok;
  if (b.outcome() == v1::OUTCOME_INFRA_ERROR) return a.outcome() != v1::OUTCOME_INFRA_ERROR;
  return a.outcome() != v1::OUTCOME_INFRA_ERROR && a.outcome() > b.outcome();
}

}  // namespace

std::string ProblemId(const std::string& source, const v1::IntakeSettings& settings) {
  return Sha256Hex(
      fmt::format("{}\n{}\n{}\n{}", settings.eval_mode(), settings.tolerance(), settings.require_mutations(), source));
}

std::string OutcomeName(v1::Outcome outcome) {
  std::string name = v1::Outcome_Name(outcome);
  if (name.rfind("OUTCOME_", 0) == 0) name.erase(0, 8);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

Evaluator::Evaluator(EvaluatorOptions options, compile::Compiler& compiler, executor::ExecutorFactory& executors,
                     reference::Oracle& oracle, Clock& clock)
    : options_(std::move(options)), compiler_(compiler), executors_(executors), oracle_(oracle), clock_(clock) {}

v1::Evaluation Evaluator::Evaluate(const EvaluateRequest& request, std::stop_token stop) {
  TimePoint started = clock_.Now();
  v1::Evaluation best;
  auto candidate = plan::ParseCandidate(request.candidate);
  if (!candidate.ok()) {
    SetPlanError(candidate.status(), "parse", best);
  } else {
    std::vector<plan::TuneAssignment> variants =
        plan::TuneVariants(candidate->plan, std::max<size_t>(1, options_.max_tune_variants));
    bool first = true;
    for (const plan::TuneAssignment& tune : variants) {
      if (stop.stop_requested()) return InfraError("the evaluation was cancelled");
      v1::Evaluation evaluation = EvaluateVariant(request, *candidate, tune, stop);
      for (auto& [name, value] : tune) (*evaluation.mutable_tune())[name] = value;
      if (first || Better(evaluation, best)) best = std::move(evaluation);
      first = false;
    }
    best.set_tune_variants(static_cast<int>(variants.size()));
    Rate(request, best);
  }
  best.set_harness_rev(kHarnessRevision);
  best.set_judge_rev(kJudgeRevision);
  best.set_worker_id(options_.worker_id);
  best.set_evaluate_seconds(ToSeconds(clock_.Now() - started));
  return best;
}

bool Evaluator::Compile(const plan::Candidate& candidate, const plan::TuneAssignment& tune,
                        compile::CompileResult& result, v1::Evaluation& evaluation) {
  compile::CompileRequest request;
  request.code = candidate.code;
  request.kernel_names = plan::KernelNames(candidate.plan);
  request.options = plan::CompilerOptions(candidate.plan, tune);
  request.emulated = options_.device.emulated();
  // The lab's card and the newest one at hand, whatever runs here: a candidate that only one of them takes is found out
  // before it reaches the other.
  for (int capability : {89, 90}) {
    if (!candidate.plan.min_arch || candidate.plan.min_arch->number <= capability) {
      request.architectures.push_back(plan::CompileArchitecture(candidate.plan, capability));
    }
  }
  if (request.architectures.empty()) {
    SetPlanError(plan::PlanError(plan::reason::kMinArch,
                                 fmt::format("min_arch: sm_{} is above every device here (sm_89 and sm_90); lower it",
                                             candidate.plan.min_arch->number)),
                 "check", evaluation);
    return false;
  }
  auto compiled = compiler_.Compile(request);
  if (!compiled.ok()) {
    evaluation = InfraError(Message(compiled.status()));
    return false;
  }
  result = *std::move(compiled);
  std::vector<std::string> architectures;
  if (result.toolkit_checked) architectures = request.architectures;
  if (request.emulated) architectures.emplace_back("emulated");
  FillCompileReport(result, architectures, *evaluation.mutable_compile());
  if (result.outcome == v1::OUTCOME_OK) return true;
  evaluation.set_outcome(result.outcome);
  evaluation.set_reason(result.reason);
  evaluation.set_message(result.message);
  evaluation.set_failed_stage("compile");
  return false;
}

v1::Evaluation Evaluator::EvaluateVariant(const EvaluateRequest& request, const plan::Candidate& candidate,
                                          const plan::TuneAssignment& tune, std::stop_token stop) {
  v1::Evaluation evaluation;
  plan::DeviceLimits limits = options_.device.emulated()
                                  ? plan::DeviceLimits::Emulated(candidate.plan.min_arch)
                                  : plan::DeviceLimits::ForArchitecture(options_.device.compute_capability());
  if (options_.device.sm_count() > 0) limits.sm_count = options_.device.sm_count();
  plan::ExpandOptions expand;
  expand.frozen_weights = request.frozen_weights;
  // Before compiling: a plan error wins over a compile error, and costs nothing.
  absl::Status checked = plan::CheckPlan(candidate.plan, request.problem.signature(), limits, tune, expand);
  if (!checked.ok()) {
    SetPlanError(checked, "check", evaluation);
    return evaluation;
  }
  compile::CompileResult compiled;
  if (!Compile(candidate, tune, compiled, evaluation)) return evaluation;
  auto expanded = plan::Expand(candidate.plan, request.problem.signature(), compiled.kernels, limits, tune, expand);
  if (!expanded.ok()) {
    SetPlanError(expanded.status(), "check", evaluation);
    return evaluation;
  }
  evaluation.set_launches(expanded->steps_size());
  if (expanded->uses_library()) evaluation.add_flags("uses_library");
  if (options_.device.emulated() && candidate.needs_gpu) {
    evaluation.set_outcome(v1::OUTCOME_NEEDS_GPU);
    evaluation.set_reason(*candidate.needs_gpu);
    evaluation.set_message(
        fmt::format("the emulated device has no {}; a GPU has to judge this one", *candidate.needs_gpu));
    evaluation.set_failed_stage("compile");
    return evaluation;
  }
  std::lock_guard device(device_mutex_);
  TimePoint started = clock_.Now();
  absl::Status status = RunOnDevice(request, *expanded, compiled, stop, evaluation);
  evaluation.set_gpu_seconds(ToSeconds(clock_.Now() - started));
  if (status.ok() && evaluation.outcome() == v1::OUTCOME_UNSPECIFIED)
    status = Cancelled("the evaluation was cancelled");
  if (!status.ok()) {
    v1::CompileReport report = evaluation.compile();
    evaluation = InfraError(Message(status));
    *evaluation.mutable_compile() = std::move(report);
  }
  return evaluation;
}

absl::Status Evaluator::RunOnDevice(const EvaluateRequest& request, const v1::ExecutionPlan& plan,
                                    const compile::CompileResult& compiled, std::stop_token stop,
                                    v1::Evaluation& evaluation) {
  const v1::Problem& problem = request.problem;
  WARPSMITH_RETURN_IF_ERROR(
      oracle_.Load(problem.id(), problem.name(), problem.source(), request.settings, problem.signature()));
  WARPSMITH_ASSIGN_OR_RETURN(TemporaryDirectory buffers,
                             TemporaryDirectory::Create("warpsmith", options_.shared_memory));
  WARPSMITH_ASSIGN_OR_RETURN(TemporaryDirectory files, TemporaryDirectory::Create("warpsmith"));
  executor::ExecutorSpec spec;
  WARPSMITH_ASSIGN_OR_RETURN(spec.slots, oracle_.Prepare(buffers.path(), plan, kSlots));
  spec.artifact_path = files.path() / "candidate.bin";
  WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(spec.artifact_path, compiled.artifact));
  spec.plan = plan;
  spec.address_space_bytes = options_.candidate_memory_bytes;
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<executor::Executor> executor, executors_.Start(spec));

  ValidationPlan validation_plan;
  validation_plan.distributions = {problem.signature().distributions().begin(),
                                   problem.signature().distributions().end()};
  validation_plan.accepted = request.accepted;
  validation_plan.slots = kSlots;
  validation_plan.seed = request.seed;
  validation_plan.run_limit_seconds = options_.run_limit_seconds;
  validation_plan.deadline = clock_.Now() + FromSeconds(options_.evaluation_limit_seconds);
  Validation validation(validation_plan, *executor, oracle_, clock_);
  Measurement measurement(options_.measurement, *executor, validation, kSlots);
  v1::Timing timing;
  timing.set_device_name(options_.device.name());
  timing.set_emulated(options_.device.emulated());

  WARPSMITH_ASSIGN_OR_RETURN(bool passed, validation.FirstTrial(evaluation));
  if (!passed || stop.stop_requested()) return absl::OkStatus();
  WARPSMITH_RETURN_IF_ERROR(validation.BeginTimed(/*poison=*/true));
  if (!measurement.Screen(timing, evaluation)) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(passed, validation.JudgeTimed(evaluation));
  if (!passed) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(passed, validation.RemainingTrials(evaluation));
  if (!passed || stop.stop_requested()) return absl::OkStatus();
  // A candidate far behind the incumbent is correct and stays at its few samples.
  if (!measurement.MuchSlowerThan(request.incumbent_ms, timing)) {
    WARPSMITH_RETURN_IF_ERROR(validation.BeginTimed(/*poison=*/false));
    if (!measurement.Measure(timing, evaluation)) return absl::OkStatus();
    WARPSMITH_ASSIGN_OR_RETURN(passed, validation.JudgeTimed(evaluation));
    if (!passed) return absl::OkStatus();
  }
  if (request.stage == "confirm" || anchor_problem_ != problem.id() || clock_.Now() - anchor_taken_ > kAnchorAge) {
    WARPSMITH_ASSIGN_OR_RETURN(reference::ReferenceTime anchor, oracle_.TimeReference(kAnchorSeconds));
    anchor_problem_ = problem.id();
    anchor_ms_ = anchor.median_ms;
    anchor_taken_ = clock_.Now();
  }
  timing.set_anchor_ms(anchor_ms_);
  if (request.stage == "confirm") timing.set_stage("confirm");
  *evaluation.mutable_timing() = std::move(timing);
  evaluation.set_outcome(v1::OUTCOME_OK);
  return oracle_.Release();
}

void Evaluator::Rate(const EvaluateRequest& request, v1::Evaluation& evaluation) {
  if (evaluation.outcome() != v1::OUTCOME_OK || evaluation.timing().median_ms() <= 0) return;
  double median = evaluation.timing().median_ms();
  double best = 0;
  for (const v1::Baseline& baseline : request.problem.baselines()) {
    if (baseline.emulated() != options_.device.emulated() || baseline.median_ms() <= 0) continue;
    if (baseline.name() == "eager") evaluation.set_ratio_to_eager(baseline.median_ms() / median);
    bool as_strict = baseline.precision_class() != v1::PRECISION_CLASS_UNSPECIFIED &&
                     baseline.precision_class() <= std::max(evaluation.reached(), v1::PRECISION_CLASS_FP32);
    if (as_strict && (best == 0 || baseline.median_ms() < best)) {
      best = baseline.median_ms();
      evaluation.set_best_baseline(baseline.name());
      evaluation.set_ratio_to_best_baseline(best / median);
    }
  }
}

absl::StatusOr<v1::IntakeResult> Evaluator::Intake(const std::string& name, const std::string& source,
                                                   const v1::IntakeSettings& settings) {
  std::lock_guard device(device_mutex_);  // baselines are timed
  return oracle_.Intake(name, source, settings);
}

}  // namespace warpsmith::evaluate
