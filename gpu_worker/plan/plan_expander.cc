#include "gpu_worker/plan/plan_expander.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/step_expander.h"
#include "gpu_worker/plan/tensor_table.h"

namespace warpsmith::plan {
namespace {

absl::Status CheckTune(const Plan& plan, const TuneAssignment& tune) {
  bool same = tune.size() == plan.tune.size();
  for (const TuneParameter& parameter : plan.tune) same = same && tune.count(parameter.name) == 1;
  return same ? absl::OkStatus() : Internal("the tune assignment does not name the plan's tune values");
}

absl::Status CheckArchitecture(const Plan& plan, const DeviceLimits& limits) {
  if (!plan.min_arch.has_value() || limits.emulated || plan.min_arch->number <= limits.compute_capability) {
    return absl::OkStatus();
  }
  return PlanError(reason::kMinArch, fmt::format("min_arch: the plan needs sm_{}, the device is sm_{}",
                                                 plan.min_arch->number, limits.compute_capability));
}

absl::Status CheckPrepare(const Plan& plan, const ExpandOptions& options) {
  for (size_t i = 0; i < plan.scratch.size(); ++i) {
    if (plan.scratch[i].persistent && plan.prepare.empty()) {
      return PlanError(reason::kFrozenWeights,
                       fmt::format("scratch[{}].persistent: without prepare steps nothing could write it", i));
    }
  }
  if (plan.prepare.empty() || options.frozen_weights) return absl::OkStatus();
  return PlanError(reason::kFrozenWeights, "prepare: this search does not allow frozen weights; do the work in steps");
}

// Scratch, and the local memory of the kernel that needs most of it with every thread resident.
absl::Status CheckMemory(const Plan& plan, const TensorTable& table,
                         const std::map<std::string, const KernelInterface*>* kernels, const DeviceLimits& limits) {
  if (table.scratch_bytes() > limits.memory_budget_bytes) {
    return PlanError(reason::kOutOfMemory, fmt::format("scratch: {} bytes in all; there is room for {}",
                                                       table.scratch_bytes(), limits.memory_budget_bytes));
  }
  if (limits.emulated || kernels == nullptr) return absl::OkStatus();
  const int64_t threads = int64_t{limits.sm_count} * limits.threads_per_sm;
  for (const std::string& name : KernelNames(plan)) {
    auto kernel = kernels->find(name);
    if (kernel == kernels->end() || kernel->second->local_bytes <= 0) continue;
    const int64_t local = kernel->second->local_bytes * threads;
    if (local > limits.memory_budget_bytes - table.scratch_bytes()) {
      return PlanError(reason::kOutOfMemory,
                       fmt::format("kernel {}: {} bytes of local memory a thread are {} bytes on this device; with the "
                                   "scratch there is room for {}",
                                   name, kernel->second->local_bytes, local, limits.memory_budget_bytes));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOutputs(const TensorTable& table, const std::set<std::string>& written) {
  for (const Tensor& tensor : table.tensors()) {
    if (tensor.kind != v1::BUFFER_KIND_OUTPUT || written.count(tensor.name) > 0) continue;
    return PlanError(reason::kNames, fmt::format("steps: nothing writes {}; make it an argument of a kernel or the "
                                                 "target of another step",
                                                 tensor.name));
  }
  return absl::OkStatus();
}

using Interfaces = std::map<std::string, const KernelInterface*>;

// `interfaces` null: no kernel is compiled yet.
absl::Status ExpandInto(const Plan& plan, const v1::ProblemSignature& signature, const Interfaces* interfaces,
                        const DeviceLimits& limits, const TuneAssignment& tune, const ExpandOptions& options,
                        v1::ExecutionPlan* result) {
  WARPSMITH_RETURN_IF_ERROR(CheckTune(plan, tune));
  WARPSMITH_RETURN_IF_ERROR(CheckArchitecture(plan, limits));
  WARPSMITH_RETURN_IF_ERROR(CheckPrepare(plan, options));
  WARPSMITH_ASSIGN_OR_RETURN(TensorTable table, TensorTable::Build(signature, plan.scratch));
  WARPSMITH_RETURN_IF_ERROR(CheckMemory(plan, table, interfaces, limits));
  std::map<std::string, uint32_t> indexes;
  for (const std::string& name : KernelNames(plan)) {
    if (interfaces == nullptr || interfaces->count(name) == 0) continue;
    indexes.emplace(name, static_cast<uint32_t>(indexes.size()));
    result->add_kernel_symbols(interfaces->at(name)->symbol);
  }
  Variables variables = {{"sm_count", limits.sm_count}};
  variables.insert(variables.end(), tune.begin(), tune.end());
  StepExpander prepare(table, interfaces, indexes, limits, options, variables);
  StepExpander expander(table, interfaces, indexes, limits, options, std::move(variables));
  WARPSMITH_RETURN_IF_ERROR(expander.Count(plan.prepare, "prepare"));
  WARPSMITH_RETURN_IF_ERROR(expander.Count(plan.steps, "steps"));
  // Expanded apart, so that what prepare names does not count as written by the steps.
  WARPSMITH_RETURN_IF_ERROR(prepare.Expand(plan.prepare, "prepare", Phase::kPrepare, result->mutable_prepare_steps()));
  WARPSMITH_RETURN_IF_ERROR(expander.Expand(plan.steps, "steps", Phase::kRun, result->mutable_steps()));
  WARPSMITH_RETURN_IF_ERROR(CheckOutputs(table, expander.written()));
  for (const v1::ExecutionBuffer& buffer : table.buffers()) *result->add_buffers() = buffer;
  result->set_uses_library(UsesLibrary(plan));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::ExecutionPlan> Expand(const Plan& plan, const v1::ProblemSignature& signature,
                                         const std::vector<KernelInterface>& kernels, const DeviceLimits& limits,
                                         const TuneAssignment& tune, const ExpandOptions& options) {
  Interfaces interfaces;
  for (const KernelInterface& kernel : kernels) interfaces.emplace(kernel.plan_name, &kernel);
  v1::ExecutionPlan result;
  WARPSMITH_RETURN_IF_ERROR(ExpandInto(plan, signature, &interfaces, limits, tune, options, &result));
  return result;
}

absl::Status CheckPlan(const Plan& plan, const v1::ProblemSignature& signature, const DeviceLimits& limits,
                       const TuneAssignment& tune, const ExpandOptions& options) {
  v1::ExecutionPlan discarded;
  return ExpandInto(plan, signature, nullptr, limits, tune, options, &discarded);
}

}  // namespace warpsmith::plan
