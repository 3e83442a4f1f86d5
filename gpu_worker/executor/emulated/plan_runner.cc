#include "gpu_worker/executor/emulated/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace warpsmith::executor {
namespace {

using device::FaultKind;
using device::LaunchFault;

char where[160] = "loading the module";

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

// Without allocating: many steps run for microseconds.
void SetWhere(const v1::ExecutionPlan& plan, const v1::ExecutionStep& what, int step, bool prepare) {
  const char* list = prepare ? "prepare " : "";
  if (what.has_kernel()) {
    std::snprintf(where, sizeof where, "%sstep %d (kernel %.64s)", list, step,
                  plan.kernel_symbols(static_cast<int>(what.kernel().kernel())).c_str());
  } else {
    std::snprintf(where, sizeof where, "%sstep %d (%s)", list, step, what.has_memset() ? "memset" : "copy");
  }
}

}  // namespace

EmulatedPlanRunner::EmulatedPlanRunner(const v1::ExecutionPlan& plan, const BufferMap& buffers, device::Module& module,
                                       device::SharedMemory& shared)
    : plan_(plan), buffers_(buffers), module_(module), scheduler_(module, shared) {
  prepare_.steps = &plan.prepare_steps();
  prepare_.prepare = true;
  steps_.steps = &plan.steps();
}

const char* EmulatedPlanRunner::Where() { return where; }

std::optional<LaunchFault> EmulatedPlanRunner::Load() {
  for (const std::string& symbol : plan_.kernel_symbols()) {
    absl::StatusOr<device::Kernel> kernel = module_.Find(symbol);
    if (!kernel.ok()) return LaunchFault{FaultKind::kLaunchError, Message(kernel.status())};
    kernels_.push_back(*kernel);
  }
  if (std::optional<LaunchFault> fault = LoadSequence(prepare_)) return fault;
  return LoadSequence(steps_);
}

std::optional<LaunchFault> EmulatedPlanRunner::LoadSequence(Sequence& sequence) {
  for (int i = 0; i < sequence.steps->size(); ++i) {
    const v1::ExecutionStep& step = (*sequence.steps)[i];
    std::string name = fmt::format("{}step {}", sequence.prepare ? "prepare " : "", i);
    if (step.has_library()) return LaunchFault{FaultKind::kNeedsGpu, name + ": library calls need a GPU"};
    if (!step.has_kernel()) continue;
    if (std::optional<LaunchFault> fault = LoadLaunch(step.kernel(), name, sequence)) return fault;
  }
  return std::nullopt;
}

std::optional<LaunchFault> EmulatedPlanRunner::LoadLaunch(const v1::KernelLaunch& step, const std::string& name,
                                                          Sequence& sequence) {
  Launch launch;
  launch.kernel = kernels_[step.kernel()];
  launch.shape.grid = dim3(step.grid_x(), step.grid_y(), step.grid_z());
  launch.shape.block = dim3(step.block_x(), step.block_y(), step.block_z());
  launch.shape.dynamic_shared_bytes = step.dynamic_shared_bytes();
  launch.shape.cooperative = step.cooperative();
  uint64_t cluster = 1;
  for (uint32_t side : step.cluster()) cluster *= std::max(side, 1u);
  if (cluster > 1) return LaunchFault{FaultKind::kNeedsGpu, name + ": clusters need a GPU"};
  if (static_cast<uint32_t>(step.arguments_size()) != launch.kernel.descriptor->parameter_count) {
    return LaunchFault{FaultKind::kLaunchError,
                       fmt::format("{}: {} arguments for a kernel that takes {}", name, step.arguments_size(),
                                   launch.kernel.descriptor->parameter_count)};
  }
  for (int i = 0; i < step.arguments_size(); ++i) {
    const v1::KernelArgument& from = step.arguments(i);
    if (from.has_tensor_map()) {
      return LaunchFault{FaultKind::kNeedsGpu, name + ": TMA descriptors need a GPU"};
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
                         fmt::format("{}: argument {} has {} bytes, the kernel's parameter {}", name, i, size,
                                     launch.kernel.descriptor->parameters[i].size)};
    }
    launch.arguments.push_back(argument);
  }
  sequence.launches.push_back(std::move(launch));
  return std::nullopt;
}

std::optional<LaunchFault> EmulatedPlanRunner::Prepare(int slot, uint64_t order_seed, uint32_t shared_fill) {
  return RunSequence(prepare_, slot, order_seed, shared_fill);
}

std::optional<LaunchFault> EmulatedPlanRunner::Run(int slot, uint64_t order_seed, uint32_t shared_fill) {
  return RunSequence(steps_, slot, order_seed, shared_fill);
}

std::optional<LaunchFault> EmulatedPlanRunner::RunSequence(const Sequence& sequence, int slot, uint64_t order_seed,
                                                           uint32_t shared_fill) {
  std::array<void*, warpsmith_emulated::kMaxParameters> arguments{};
  std::array<void*, warpsmith_emulated::kMaxParameters> pointers{};
  size_t next = 0;
  device::Heap().Clear();
  for (int i = 0; i < sequence.steps->size(); ++i) {
    const v1::ExecutionStep& step = (*sequence.steps)[i];
    SetWhere(plan_, step, i, sequence.prepare);
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
      const Launch& launch = sequence.launches[next++];
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
