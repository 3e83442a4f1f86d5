#include "gpu_worker/executor/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace warpsmith::executor {
namespace {

using device::FaultKind;
using device::LaunchFault;

char where[160] = "loading the module";

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

absl::Status CheckStep(const v1::ExecutionPlan& plan, const v1::ExecutionStep& step) {
  if (step.has_memset()) {
    const v1::MemsetStep& memset = step.memset();
    if (memset.width() != 1 && memset.width() != 2 && memset.width() != 4) {
      return InvalidArgument(fmt::format("a memset of width {}", memset.width()));
    }
    if (memset.count() < 0 || memset.count() > INT64_MAX / 4) return InvalidArgument("a memset's count");
    return CheckView(plan, memset.view(), memset.count() * memset.width());
  }
  if (step.has_copy()) {
    WARPSMITH_RETURN_IF_ERROR(CheckView(plan, step.copy().source(), step.copy().bytes()));
    return CheckView(plan, step.copy().target(), step.copy().bytes());
  }
  if (!step.has_kernel()) return absl::OkStatus();
  if (step.kernel().kernel() >= static_cast<uint32_t>(plan.kernel_symbols_size())) {
    return InvalidArgument(fmt::format("the plan has no kernel {}", step.kernel().kernel()));
  }
  for (const v1::KernelArgument& argument : step.kernel().arguments()) {
    if (argument.has_view()) WARPSMITH_RETURN_IF_ERROR(CheckView(plan, argument.view(), 0));
  }
  return absl::OkStatus();
}

template <typename T>
void FillWith(char* target, uint32_t value, int64_t count) {
  auto* elements = reinterpret_cast<T*>(target);
  std::fill(elements, elements + count, static_cast<T>(value));
}

void Fill(char* target, const v1::MemsetStep& step) {
  if (step.width() == 1) FillWith<uint8_t>(target, step.value(), step.count());
  if (step.width() == 2) FillWith<uint16_t>(target, step.value(), step.count());
  if (step.width() == 4) FillWith<uint32_t>(target, step.value(), step.count());
}

}  // namespace

absl::Status CheckPlanBounds(const v1::ExecutionPlan& plan) {
  for (int i = 0; i < plan.steps_size(); ++i) {
    WARPSMITH_RETURN_IF_ERROR(Annotate(CheckStep(plan, plan.steps(i)), fmt::format("step {}", i)));
  }
  return absl::OkStatus();
}

uint32_t MaxDynamicSharedBytes(const v1::ExecutionPlan& plan) {
  uint32_t most = 0;
  for (const v1::ExecutionStep& step : plan.steps()) most = std::max(most, step.kernel().dynamic_shared_bytes());
  return most;
}

PlanRunner::PlanRunner(const v1::ExecutionPlan& plan, const BufferMap& buffers, device::Module& module,
                       device::SharedMemory& shared)
    : plan_(plan), buffers_(buffers), module_(module), scheduler_(module, shared) {}

const char* PlanRunner::Where() { return where; }

void PlanRunner::SetWhere(int step) {
  const v1::ExecutionStep& what = plan_.steps(step);
  if (what.has_kernel()) {
    std::snprintf(where, sizeof where, "step %d (kernel %.64s)", step,
                  plan_.kernel_symbols(static_cast<int>(what.kernel().kernel())).c_str());
  } else {
    std::snprintf(where, sizeof where, "step %d (%s)", step, what.has_memset() ? "memset" : "copy");
  }
}

std::optional<LaunchFault> PlanRunner::Prepare() {
  for (const std::string& symbol : plan_.kernel_symbols()) {
    absl::StatusOr<device::Kernel> kernel = module_.Find(symbol);
    if (!kernel.ok()) return LaunchFault{FaultKind::kLaunchError, Message(kernel.status())};
    kernels_.push_back(*kernel);
  }
  for (int i = 0; i < plan_.steps_size(); ++i) {
    const v1::ExecutionStep& step = plan_.steps(i);
    if (step.has_library()) {
      return LaunchFault{FaultKind::kNeedsGpu, fmt::format("step {}: library calls need a GPU", i)};
    }
    if (!step.has_kernel()) continue;
    if (std::optional<LaunchFault> fault = PrepareLaunch(step.kernel(), i)) return fault;
  }
  return std::nullopt;
}

std::optional<LaunchFault> PlanRunner::PrepareLaunch(const v1::KernelLaunch& step, int index) {
  Launch launch;
  launch.kernel = kernels_[step.kernel()];
  launch.shape.grid = dim3(step.grid_x(), step.grid_y(), step.grid_z());
  launch.shape.block = dim3(step.block_x(), step.block_y(), step.block_z());
  launch.shape.dynamic_shared_bytes = step.dynamic_shared_bytes();
  launch.shape.cooperative = step.cooperative();
  uint64_t cluster = 1;
  for (uint32_t side : step.cluster()) cluster *= std::max(side, 1u);
  if (cluster > 1) return LaunchFault{FaultKind::kNeedsGpu, fmt::format("step {}: clusters need a GPU", index)};
  if (static_cast<uint32_t>(step.arguments_size()) != launch.kernel.descriptor->parameter_count) {
    return LaunchFault{FaultKind::kLaunchError,
                       fmt::format("step {}: {} arguments for a kernel that takes {}", index, step.arguments_size(),
                                   launch.kernel.descriptor->parameter_count)};
  }
  for (int i = 0; i < step.arguments_size(); ++i) {
    const v1::KernelArgument& from = step.arguments(i);
    if (from.has_tensor_map()) {
      return LaunchFault{FaultKind::kNeedsGpu, fmt::format("step {}: TMA descriptors need a GPU", index)};
    }
    Argument argument;
    size_t size = sizeof(void*);
    if (from.has_view()) {
      argument.pointer = true;
      argument.buffer = from.view().buffer();
      argument.offset = from.view().offset_bytes();
    } else {
      size = from.literal().size();
      argument.literal = literals_.size();
      literals_.resize(literals_.size() + (size + sizeof(LiteralWord) - 1) / sizeof(LiteralWord));
      if (size > 0) std::memcpy(&literals_[argument.literal], from.literal().data(), size);
    }
    if (size != launch.kernel.descriptor->parameters[i].size) {
      return LaunchFault{FaultKind::kLaunchError,
                         fmt::format("step {}: argument {} has {} bytes, the kernel's parameter {}", index, i, size,
                                     launch.kernel.descriptor->parameters[i].size)};
    }
    launch.arguments.push_back(argument);
  }
  launches_.push_back(std::move(launch));
  return std::nullopt;
}

std::optional<LaunchFault> PlanRunner::Run(int slot, uint64_t order_seed, uint32_t shared_fill) {
  std::array<void*, warpsmith_emulated::kMaxParameters> arguments{};
  std::array<void*, warpsmith_emulated::kMaxParameters> pointers{};
  size_t next = 0;
  device::Heap().Clear();
  for (int i = 0; i < plan_.steps_size(); ++i) {
    const v1::ExecutionStep& step = plan_.steps(i);
    SetWhere(i);
    if (step.has_memset()) {
      const v1::BufferView& view = step.memset().view();
      Fill(buffers_.Payload(slot, view.buffer()) + view.offset_bytes(), step.memset());
    } else if (step.has_copy()) {
      const v1::BufferView& source = step.copy().source();
      const v1::BufferView& target = step.copy().target();
      std::memmove(buffers_.Payload(slot, target.buffer()) + target.offset_bytes(),
                   buffers_.Payload(slot, source.buffer()) + source.offset_bytes(),
                   static_cast<size_t>(step.copy().bytes()));
    } else if (step.has_kernel()) {
      const Launch& launch = launches_[next++];
      for (size_t a = 0; a < launch.arguments.size(); ++a) {
        const Argument& argument = launch.arguments[a];
        pointers[a] = argument.pointer ? buffers_.Payload(slot, argument.buffer) + argument.offset : nullptr;
        arguments[a] = argument.pointer ? static_cast<void*>(&pointers[a])
                                        : static_cast<void*>(literals_.data() + argument.literal);
      }
      uint64_t seed = order_seed == 0 ? 0 : order_seed + 0x9e3779b97f4a7c15u * next;
      device::SetScheduler(&scheduler_);
      std::optional<LaunchFault> fault =
          scheduler_.Launch(launch.kernel, arguments.data(), launch.shape, seed, shared_fill);
      device::SetScheduler(nullptr);
      if (fault) {
        fault->message = fmt::format("{}: {}", where, fault->message);
        return fault;
      }
    }
  }
  return std::nullopt;
}

}  // namespace warpsmith::executor
