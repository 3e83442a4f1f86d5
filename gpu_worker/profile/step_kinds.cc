#include "gpu_worker/profile/step_kinds.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace warpsmith::profile {
namespace {

using Shape = std::array<uint32_t, 8>;

std::pair<std::string, Shape> KeyOf(const v1::ExecutionPlan& plan, const v1::ExecutionStep& step) {
  switch (step.step_case()) {
    case v1::ExecutionStep::kKernel: {
      const v1::KernelLaunch& launch = step.kernel();
      const auto index = static_cast<int>(launch.kernel());
      std::string name = index < plan.kernel_symbols_size() ? plan.kernel_symbols(index) : "unknown";
      return {name,
              {launch.grid_x(), launch.grid_y(), launch.grid_z(), launch.block_x(), launch.block_y(), launch.block_z(),
               launch.dynamic_shared_bytes(), 1}};
    }
    case v1::ExecutionStep::kMemset:
      return {"memset", {}};
    case v1::ExecutionStep::kCopy:
      return {"copy", {}};
    case v1::ExecutionStep::kLibrary:
      return {step.library().function(), {}};
    case v1::ExecutionStep::STEP_NOT_SET:
      break;
  }
  return {"nothing", {}};
}

}  // namespace

std::vector<StepKind> GroupSteps(const v1::ExecutionPlan& plan) {
  std::vector<StepKind> kinds;
  std::map<std::pair<std::string, Shape>, size_t> known;
  for (int i = 0; i < plan.steps_size(); ++i) {
    auto key = KeyOf(plan, plan.steps(i));
    auto [entry, added] = known.emplace(key, kinds.size());
    if (added) kinds.push_back({std::move(key.first), {}, 0});
    kinds[entry->second].steps.push_back(i);
  }
  return kinds;
}

std::vector<StepKind> TopKinds(std::vector<StepKind> kinds, size_t most) {
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const StepKind& a, const StepKind& b) { return a.time_ms > b.time_ms; });
  if (kinds.size() > most) kinds.resize(most);
  return kinds;
}

}  // namespace warpsmith::profile
