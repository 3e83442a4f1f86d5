#include "gpu_worker/plan/step_expander.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu_worker/plan/literal.h"
#include "gpu_worker/plan/plan_error.h"

namespace warpsmith::plan {
namespace {

std::string At(const std::string& path, size_t index) { return fmt::format("{}[{}]", path, index); }

// `status`, whose message begins with a field's name, under `prefix`.
absl::Status Inside(const absl::Status& status, std::string_view prefix) {
  if (status.ok()) return status;
  std::string reason = PlanErrorReason(status);
  std::string message = fmt::format("{}.{}", prefix, Message(status));
  return reason.empty() ? MakeStatus(status.code(), message) : PlanError(reason, message);
}

}  // namespace

absl::StatusOr<int64_t> StepExpander::Evaluate(const Expression& expression, Division division) {
  if (std::optional<int64_t> constant = expression.constant()) return *constant;
  evaluations_ += static_cast<int64_t>(expression.size());
  if (evaluations_ > options_.max_evaluations) {
    return PlanError(reason::kLimits, "the plan's expressions take too long to evaluate; write fewer or simpler ones");
  }
  return expression.Evaluate(variables_, division);
}

absl::StatusOr<int64_t> StepExpander::RepeatCount(const RepeatStep& step) {
  auto count = Evaluate(step.count);
  if (!count.ok()) return AnnotatePlanError(count.status(), "repeat");
  if (*count < 1) return PlanError(reason::kRange, fmt::format("repeat: {} is out of range: at least 1", *count));
  return count;
}

absl::Status StepExpander::Count(const std::vector<Step>& steps, const std::string& path) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto* repeat = std::get_if<RepeatStep>(&steps[i].value);
    int64_t count = 1;
    if (repeat != nullptr) {
      auto evaluated = RepeatCount(*repeat);
      if (!evaluated.ok()) return Inside(evaluated.status(), At(path, i));
      count = *evaluated;
    }
    // A repeat has at least one step, so that this bounds the loop below, too.
    if (count > options_.max_launches - launches_) {
      return PlanError(reason::kLimits, fmt::format("{}: the plan has more than {} launches in all", At(path, i),
                                                    options_.max_launches));
    }
    if (repeat == nullptr) {
      ++launches_;
      continue;
    }
    const std::string inner = At(path, i) + ".steps";
    if (!repeat->index.empty()) variables_.emplace_back(repeat->index, 0);
    for (int64_t turn = 0; turn < count; ++turn) {
      if (!repeat->index.empty()) variables_.back().second = turn;
      WARPSMITH_RETURN_IF_ERROR(Count(repeat->steps, inner));
    }
    if (!repeat->index.empty()) variables_.pop_back();
  }
  return absl::OkStatus();
}

absl::Status StepExpander::Expand(const std::vector<Step>& steps, const std::string& path, Phase phase, Steps* out) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto* repeat = std::get_if<RepeatStep>(&steps[i].value);
    if (repeat == nullptr) {
      WARPSMITH_RETURN_IF_ERROR(ExpandStep(steps[i], At(path, i), phase, out));
      continue;
    }
    auto count = RepeatCount(*repeat);
    if (!count.ok()) return Inside(count.status(), At(path, i));
    const std::string inner = At(path, i) + ".steps";
    if (!repeat->index.empty()) variables_.emplace_back(repeat->index, 0);
    for (int64_t turn = 0; turn < *count; ++turn) {
      if (!repeat->index.empty()) variables_.back().second = turn;
      WARPSMITH_RETURN_IF_ERROR(Expand(repeat->steps, inner, phase, out));
    }
    if (!repeat->index.empty()) variables_.pop_back();
  }
  return absl::OkStatus();
}

absl::Status StepExpander::ExpandStep(const Step& step, const std::string& path, Phase phase, Steps* out) {
  absl::Status status;
  if (const auto* kernel = std::get_if<KernelStep>(&step.value)) {
    status = ExpandKernel(*kernel, phase, out);
  } else if (const auto* memset = std::get_if<MemsetStep>(&step.value)) {
    status = ExpandMemset(*memset, phase, out);
  } else if (const auto* copy = std::get_if<CopyStep>(&step.value)) {
    status = ExpandCopy(*copy, phase, out);
  } else {
    status = ExpandLibrary(std::get<LibraryStep>(step.value), phase, out);
  }
  if (!status.ok() && variables_.size() > 1) {
    std::string values;
    for (const auto& [name, value] : variables_)
      values += fmt::format("{}{}={}", values.empty() ? "" : ", ", name, value);
    std::string reason = PlanErrorReason(status);
    if (!reason.empty()) status = PlanError(reason, fmt::format("{} ({})", Message(status), values));
  }
  return Inside(status, path);
}

absl::StatusOr<const KernelInterface*> StepExpander::FindKernel(const std::string& name) {
  static const KernelInterface& unknown = *new KernelInterface();
  if (kernels_ == nullptr) return &unknown;
  const auto found = kernels_->find(name);
  if (found != kernels_->end()) return found->second;
  std::string known;
  for (const auto& [each, kernel] : *kernels_) {
    if (known.size() > 400) {
      known += ", ...";
      break;
    }
    known += (known.empty() ? "" : ", ") + each;
  }
  return PlanError(reason::kNames, fmt::format("kernel: the compiled module has no kernel {}; it has {}", name,
                                               known.empty() ? "none" : known));
}

absl::StatusOr<LaunchSizes> StepExpander::EvaluateSizes(const KernelStep& step) {
  LaunchSizes sizes;
  for (size_t i = 0; i < step.grid.size(); ++i) {
    auto side = Evaluate(step.grid[i], Division::kExact);
    if (!side.ok()) return AnnotatePlanError(side.status(), At("grid", i));
    sizes.grid[i] = *side;
  }
  for (size_t i = 0; i < step.block.size(); ++i) {
    auto side = Evaluate(step.block[i]);
    if (!side.ok()) return AnnotatePlanError(side.status(), At("block", i));
    sizes.block[i] = *side;
  }
  auto shared = Evaluate(step.shared_bytes);
  if (!shared.ok()) return AnnotatePlanError(shared.status(), "shared_bytes");
  sizes.shared_bytes = *shared;
  sizes.cluster = step.cluster;
  sizes.cooperative = step.cooperative;
  return sizes;
}

absl::Status StepExpander::ExpandKernel(const KernelStep& step, Phase phase, Steps* out) {
  WARPSMITH_ASSIGN_OR_RETURN(const KernelInterface* kernel, FindKernel(step.kernel));
  WARPSMITH_ASSIGN_OR_RETURN(LaunchSizes sizes, EvaluateSizes(step));
  WARPSMITH_RETURN_IF_ERROR(CheckLaunch(sizes, *kernel, limits_));
  if (kernels_ != nullptr && step.args.size() != kernel->parameters.size()) {
    return PlanError(reason::kArguments, fmt::format("args: {} given, but the kernel {} has {} parameters",
                                                     step.args.size(), step.kernel, kernel->parameters.size()));
  }
  arguments_ += static_cast<int64_t>(step.args.size());
  if (arguments_ > options_.max_arguments) {
    return PlanError(reason::kLimits, fmt::format("args: the plan's launches have more than {} arguments in all",
                                                  options_.max_arguments));
  }
  v1::KernelLaunch* launch = out->Add()->mutable_kernel();
  if (kernels_ != nullptr) launch->set_kernel(indexes_.at(step.kernel));
  launch->set_grid_x(static_cast<uint32_t>(sizes.grid[0]));
  launch->set_grid_y(static_cast<uint32_t>(sizes.grid[1]));
  launch->set_grid_z(static_cast<uint32_t>(sizes.grid[2]));
  launch->set_block_x(static_cast<uint32_t>(sizes.block[0]));
  launch->set_block_y(static_cast<uint32_t>(sizes.block[1]));
  launch->set_block_z(static_cast<uint32_t>(sizes.block[2]));
  launch->set_dynamic_shared_bytes(static_cast<uint32_t>(sizes.shared_bytes));
  launch->set_cooperative(sizes.cooperative);
  for (int64_t side : sizes.cluster) launch->add_cluster(static_cast<uint32_t>(side));
  for (size_t i = 0; i < step.args.size(); ++i) {
    const KernelParameter* parameter = kernels_ == nullptr ? nullptr : &kernel->parameters[i];
    WARPSMITH_RETURN_IF_ERROR(BindArgument(step.args[i], i, parameter, phase, launch->add_arguments()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> StepExpander::EncodeLiteral(const Literal& literal) {
  if (IsFloatingPoint(literal.type)) return EncodeNumber(literal.type, literal.number);
  if (literal.large.has_value()) return EncodeLarge(*literal.large);
  WARPSMITH_ASSIGN_OR_RETURN(int64_t value, Evaluate(literal.integer));
  return EncodeInteger(literal.type, value);
}

absl::Status StepExpander::BindArgument(const Argument& argument, size_t index, const KernelParameter* parameter,
                                        Phase phase, v1::KernelArgument* out) {
  if (parameter != nullptr) {
    absl::Status status = CheckParameter(argument, *parameter, limits_.emulated);
    if (!status.ok()) return AnnotatePlanError(status, At("args", index));
  }
  if (const auto* literal = std::get_if<Literal>(&argument)) {
    auto bytes = EncodeLiteral(*literal);
    if (!bytes.ok()) {
      return AnnotatePlanError(bytes.status(), fmt::format("args[{}].{}", index, LiteralTypeName(literal->type)));
    }
    out->set_literal(*std::move(bytes));
    return absl::OkStatus();
  }
  const auto* view = std::get_if<View>(&argument);
  const auto* map = std::get_if<TensorMapArgument>(&argument);
  auto tensor = FindReadable(table_, view != nullptr ? view->tensor : map->tensor, phase);
  if (!tensor.ok()) return AnnotatePlanError(tensor.status(), At("args", index));
  if ((*tensor)->kind != v1::BUFFER_KIND_READ_ONLY) written_.insert((*tensor)->name);
  if (map != nullptr) {
    auto bound = BindTensorMap(**tensor, *map, limits_);
    if (!bound.ok()) return Inside(bound.status(), At("args", index));
    *out->mutable_tensor_map() = *std::move(bound);
    return absl::OkStatus();
  }
  auto offset = Evaluate(view->offset);
  if (!offset.ok()) return AnnotatePlanError(offset.status(), fmt::format("args[{}].offset", index));
  auto bound = BindView(**tensor, *offset);
  if (!bound.ok()) return Inside(bound.status(), At("args", index));
  *out->mutable_view() = *std::move(bound);
  return absl::OkStatus();
}

absl::Status StepExpander::ExpandMemset(const MemsetStep& step, Phase phase, Steps* out) {
  auto found = FindWritable(table_, step.tensor, phase);
  if (!found.ok()) return AnnotatePlanError(found.status(), "memset");
  const Tensor& tensor = **found;
  written_.insert(tensor.name);
  if (tensor.bytes % step.width != 0) {
    return PlanError(reason::kRange, fmt::format("width: {} does not divide the {} bytes of {}", step.width,
                                                 tensor.bytes, tensor.name));
  }
  if (tensor.bytes == 0) return absl::OkStatus();
  v1::MemsetStep* memset = out->Add()->mutable_memset();
  memset->mutable_view()->set_buffer(tensor.buffer);
  memset->set_value(step.value);
  memset->set_width(step.width);
  memset->set_count(tensor.bytes / step.width);
  return absl::OkStatus();
}

absl::Status StepExpander::ExpandCopy(const CopyStep& step, Phase phase, Steps* out) {
  auto from = FindReadable(table_, step.source, phase);
  if (!from.ok()) return AnnotatePlanError(from.status(), "copy");
  auto to = FindWritable(table_, step.target, phase);
  if (!to.ok()) return AnnotatePlanError(to.status(), "to");
  const Tensor &source = **from, &target = **to;
  if (source.dtype != target.dtype || source.count != target.count) {
    return PlanError(reason::kArguments,
                     fmt::format("to: {} has {} elements of {}, but {} has {} of {}", target.name, target.count,
                                 target.dtype, source.name, source.count, source.dtype));
  }
  for (const Tensor* tensor : {&source, &target}) {
    if (tensor->dense()) continue;
    return PlanError(reason::kArguments, fmt::format("{}: {} has gaps between its elements; copy it with a kernel",
                                                     tensor == &source ? "copy" : "to", tensor->name));
  }
  if (source.buffer == target.buffer) {
    return PlanError(reason::kArguments, fmt::format("to: {} and {} are the same memory", target.name, source.name));
  }
  written_.insert(target.name);
  if (source.bytes == 0) return absl::OkStatus();
  v1::CopyStep* copy = out->Add()->mutable_copy();
  copy->mutable_source()->set_buffer(source.buffer);
  copy->mutable_target()->set_buffer(target.buffer);
  copy->set_bytes(source.bytes);
  return absl::OkStatus();
}

}  // namespace warpsmith::plan
