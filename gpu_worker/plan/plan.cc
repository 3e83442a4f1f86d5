#include "gpu_worker/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpsmith::plan {
namespace {

// Calls `visit` on every step that is no repeat, in order.
template <typename Visit>
void ForEachLeaf(const std::vector<Step>& steps, const Visit& visit) {
  for (const Step& step : steps) {
    if (const auto* repeat = std::get_if<RepeatStep>(&step.value)) {
      ForEachLeaf(repeat->steps, visit);
    } else {
      visit(step);
    }
  }
}

template <typename Visit>
void ForEachLeaf(const Plan& plan, const Visit& visit) {
  ForEachLeaf(plan.prepare, visit);
  ForEachLeaf(plan.steps, visit);
}

}  // namespace

std::vector<std::string> KernelNames(const Plan& plan) {
  std::vector<std::string> names;
  ForEachLeaf(plan, [&](const Step& step) {
    const auto* kernel = std::get_if<KernelStep>(&step.value);
    if (kernel == nullptr || std::find(names.begin(), names.end(), kernel->kernel) != names.end()) return;
    names.push_back(kernel->kernel);
  });
  return names;
}

bool UsesLibrary(const Plan& plan) {
  bool uses = false;
  ForEachLeaf(plan, [&](const Step& step) { uses = uses || std::holds_alternative<LibraryStep>(step.value); });
  return uses;
}

std::optional<std::string> NeedsGpuFeature(const Plan& plan) {
  std::optional<std::string> feature;
  ForEachLeaf(plan, [&](const Step& step) {
    if (feature.has_value()) return;
    if (const auto* library = std::get_if<LibraryStep>(&step.value)) feature = "library step " + library->function;
    const auto* kernel = std::get_if<KernelStep>(&step.value);
    if (kernel == nullptr) return;
    if (!kernel->cluster.empty()) feature = "thread block clusters";
    for (const Argument& argument : kernel->args) {
      if (std::holds_alternative<TensorMapArgument>(argument)) feature = "TMA (tensor_map)";
    }
  });
  return feature;
}

std::string CompileArchitecture(const Plan& plan, int compute_capability) {
  std::string name = fmt::format("sm_{}", compute_capability);
  if (plan.min_arch.has_value() && plan.min_arch->suffix != 0) name.push_back(plan.min_arch->suffix);
  return name;
}

}  // namespace warpsmith::plan
