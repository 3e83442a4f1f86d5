#include "gpu_worker/executor/plan_bounds.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpsmith::executor {
namespace {

absl::Status CheckView(const v1::ExecutionPlan& plan, const v1::BufferView& view, int64_t bytes) {
  if (view.buffer() >= static_cast<uint32_t>(plan.buffers_size())) {
    return InvalidArgument(fmt::format("the plan has no buffer {}", view.buffer()));
  }
  int64_t room = plan.buffers(static_cast<int>(view.buffer())).bytes();
  if (view.offset_bytes() < 0 || bytes < 0 || view.offset_bytes() > room || room - view.offset_bytes() < bytes) {
    return InvalidArgument(fmt::format("a step reaches {} bytes at {} of buffer {}, which has {}", bytes,
                                       view.offset_bytes(), view.buffer(), room));
  }
  return absl::OkStatus();
}

absl::Status CheckMemset(const v1::ExecutionPlan& plan, const v1::MemsetStep& memset) {
  if (memset.width() != 1 && memset.width() != 2 && memset.width() != 4) {
    return InvalidArgument(fmt::format("a memset of width {}", memset.width()));
  }
  if (memset.count() < 0 || memset.count() > INT64_MAX / 4) return InvalidArgument("a memset's count");
  return CheckView(plan, memset.view(), memset.count() * memset.width());
}

absl::Status CheckStep(const v1::ExecutionPlan& plan, const v1::ExecutionStep& step) {
  if (step.has_memset()) return CheckMemset(plan, step.memset());
  if (step.has_copy()) {
    WARPSMITH_RETURN_IF_ERROR(CheckView(plan, step.copy().source(), step.copy().bytes()));
    return CheckView(plan, step.copy().target(), step.copy().bytes());
  }
  if (step.has_library()) {
    for (const auto& [name, view] : step.library().operands()) {
      WARPSMITH_RETURN_IF_ERROR(Annotate(CheckView(plan, view, 0), name));
    }
    return absl::OkStatus();
  }
  if (!step.has_kernel()) return InvalidArgument("a step of no kind");
  if (step.kernel().kernel() >= static_cast<uint32_t>(plan.kernel_symbols_size())) {
    return InvalidArgument(fmt::format("the plan has no kernel {}", step.kernel().kernel()));
  }
  for (const v1::KernelArgument& argument : step.kernel().arguments()) {
    if (argument.has_view()) WARPSMITH_RETURN_IF_ERROR(CheckView(plan, argument.view(), 0));
    if (argument.has_tensor_map()) WARPSMITH_RETURN_IF_ERROR(CheckView(plan, argument.tensor_map().view(), 0));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPlanBounds(const v1::ExecutionPlan& plan) {
  for (int i = 0; i < plan.prepare_steps_size(); ++i) {
    WARPSMITH_RETURN_IF_ERROR(Annotate(CheckStep(plan, plan.prepare_steps(i)), fmt::format("prepare step {}", i)));
  }
  for (int i = 0; i < plan.steps_size(); ++i) {
    WARPSMITH_RETURN_IF_ERROR(Annotate(CheckStep(plan, plan.steps(i)), fmt::format("step {}", i)));
  }
  return absl::OkStatus();
}

uint32_t MaxDynamicSharedBytes(const v1::ExecutionPlan& plan) {
  uint32_t most = 0;
  for (const v1::ExecutionStep& step : plan.prepare_steps())
    most = std::max(most, step.kernel().dynamic_shared_bytes());
  for (const v1::ExecutionStep& step : plan.steps()) most = std::max(most, step.kernel().dynamic_shared_bytes());
  return most;
}

std::string DescribeStep(const v1::ExecutionPlan& plan, int step, bool prepare) {
  const v1::ExecutionStep& what = prepare ? plan.prepare_steps(step) : plan.steps(step);
  std::string name = prepare ? fmt::format("prepare step {}", step) : fmt::format("step {}", step);
  if (what.has_kernel()) {
    return fmt::format("{} (kernel {:.64})", name, plan.kernel_symbols(static_cast<int>(what.kernel().kernel())));
  }
  if (what.has_library()) return fmt::format("{} (library {})", name, what.library().function());
  return fmt::format("{} ({})", name, what.has_memset() ? "memset" : "copy");
}

}  // namespace warpsmith::executor
