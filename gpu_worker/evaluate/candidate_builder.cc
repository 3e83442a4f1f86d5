#include "gpu_worker/evaluate/candidate_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/hash.h"
#include "gpu_worker/evaluate/flags.h"

namespace warpsmith::evaluate {
namespace {

constexpr int64_t kLeastScratchBytes = int64_t{256} << 20;

void FillCompileReport(const compile::CompileResult& result, const std::vector<std::string>& architectures,
                       const std::string& artifact, v1::CompileReport& report) {
  for (const std::string& architecture : architectures) report.add_architectures(architecture);
  report.set_seconds(result.seconds);
  report.set_cached(result.cached);
  report.set_log(result.log);
  if (!artifact.empty()) report.set_artifact_sha256(Sha256Hex(artifact));
  for (const plan::KernelInterface& kernel : result.kernels) {
    v1::KernelResources* resources = report.add_kernels();
    resources->set_name(kernel.plan_name);
    resources->set_registers(kernel.registers);
    resources->set_static_shared_bytes(kernel.static_shared_bytes);
    resources->set_local_bytes(kernel.local_bytes);
    resources->set_max_threads_per_block(kernel.max_threads_per_block);
  }
}

void AddOnce(std::vector<int>& list, int value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

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

plan::DeviceLimits CandidateBuilder::LimitsFor(const v1::ProblemSignature& signature,
                                               const plan::Candidate& candidate) const {
  const v1::DeviceDescription& device = options_.device;
  plan::DeviceLimits limits =
      device.emulated() ? plan::DeviceLimits::Emulated(candidate.plan.min_arch)
                        : options_.limits.value_or(plan::DeviceLimits::ForArchitecture(device.compute_capability()));
  if (device.sm_count() > 0) limits.sm_count = device.sm_count();
  if (!device.emulated() && device.memory_bytes() > 0) {
    // A tenth for contexts and fragmentation.
    int64_t left = device.memory_bytes() / 10 * 9 - signature.bytes_min();
    limits.memory_budget_bytes = std::max(std::min(limits.memory_budget_bytes, left), kLeastScratchBytes);
  }
  return limits;
}

bool CandidateBuilder::Compile(const plan::Candidate& candidate, const plan::TuneAssignment& tune,
                               compile::CompileResult& result, v1::Evaluation& evaluation) {
  compile::CompileRequest request;
  request.code = candidate.code;
  request.kernel_names = plan::KernelNames(candidate.plan);
  request.options = plan::CompilerOptions(candidate.plan, tune);
  request.emulated = options_.device.emulated();
  // The device's own first: what is said about kernels is of that one. Then the lab's card and the newest one at hand,
  // whatever runs here: a candidate that only one of them takes is found out before it reaches the other.
  std::vector<int> capabilities;
  if (!request.emulated) capabilities.push_back(options_.device.compute_capability());
  for (int capability : {89, 90}) AddOnce(capabilities, capability);
  for (int capability : capabilities) {
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
  const std::string own = plan::CompileArchitecture(candidate.plan, options_.device.compute_capability());
  if (!request.emulated && request.architectures.front() != own) {
    SetPlanError(plan::PlanError(plan::reason::kMinArch,
                                 fmt::format("min_arch: sm_{} is above this device's sm_{}; lower it",
                                             candidate.plan.min_arch->number, options_.device.compute_capability())),
                 "check", evaluation);
    return false;
  }
  auto compiled = compiler_.Compile(request);
  if (!compiled.ok()) {
    evaluation = InfraError(Message(compiled.status()));
    return false;
  }
  result = *std::move(compiled);
  if (!request.emulated) {
    if (auto own_cubin = result.cubins.find(own); own_cubin != result.cubins.end()) result.artifact = own_cubin->second;
  }
  std::vector<std::string> architectures;
  if (result.toolkit_checked) architectures = request.architectures;
  if (request.emulated) architectures.emplace_back("emulated");
  FillCompileReport(result, architectures, result.artifact, *evaluation.mutable_compile());
  if (result.outcome == v1::OUTCOME_OK) return true;
  evaluation.set_outcome(result.outcome);
  evaluation.set_reason(result.reason);
  evaluation.set_message(result.message);
  evaluation.set_failed_stage("compile");
  return false;
}

bool CandidateBuilder::Build(const EvaluateRequest& request, const plan::Candidate& candidate,
                             const plan::TuneAssignment& tune, StageClock& stages, BuiltCandidate& built,
                             v1::Evaluation& evaluation) {
  StageClock::Span parsing(stages, Stage::kParse);
  const v1::ProblemSignature& signature = request.problem.signature();
  plan::DeviceLimits limits = LimitsFor(signature, candidate);
  plan::ExpandOptions expand;
  expand.frozen_weights = request.frozen_weights;
  // Before compiling: a plan error wins over a compile error, and costs nothing.
  absl::Status checked = plan::CheckPlan(candidate.plan, signature, limits, tune, expand);
  if (!checked.ok()) {
    SetPlanError(checked, "check", evaluation);
    return false;
  }
  compile::CompileResult compiled;
  {
    StageClock::Span compiling(stages, Stage::kCompile);
    if (!Compile(candidate, tune, compiled, evaluation)) return false;
  }
  auto expanded = plan::Expand(candidate.plan, signature, compiled.kernels, limits, tune, expand);
  if (!expanded.ok()) {
    SetPlanError(expanded.status(), "check", evaluation);
    return false;
  }
  evaluation.set_launches(expanded->steps_size());
  if (expanded->uses_library()) AddFlag(evaluation, "uses_library");
  if (options_.device.emulated() && candidate.needs_gpu) {
    evaluation.set_outcome(v1::OUTCOME_NEEDS_GPU);
    evaluation.set_reason(*candidate.needs_gpu);
    evaluation.set_message(
        fmt::format("the emulated device has no {}; a GPU has to judge this one", *candidate.needs_gpu));
    evaluation.set_failed_stage("compile");
    return false;
  }
  built.plan = *std::move(expanded);
  built.artifact = std::move(compiled.artifact);
  return true;
}

}  // namespace warpsmith::evaluate
