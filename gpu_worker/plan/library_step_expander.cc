#include <fmt/format.h>

#include <cmath>

#include "gpu_worker/plan/library_schema.h"
#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/step_expander.h"

namespace warpsmith::plan {
namespace {

// cuBLAS and cuDNN take 32-bit sizes; strides between batches are 64-bit.
absl::Status CheckSize(const std::string& name, int64_t value, int64_t min) {
  const bool stride = name.starts_with("stride");
  const int64_t max = stride ? INT64_MAX : INT32_MAX;
  if (value >= min && value <= max) return absl::OkStatus();
  return PlanError(reason::kRange, fmt::format("{}: {} is out of range: {} to {}", name, value, min, max));
}

// The schema's field behind an integer, where lists are numbered: dimA for dimA0.
int64_t LeastValue(const LibrarySchema& schema, std::string_view name) {
  for (const LibraryField& field : schema.fields) {
    if (field.name == name) return field.min;
    if (field.kind == LibraryField::Kind::kIntegerList && name.starts_with(field.name) &&
        name.size() == field.name.size() + 1) {
      return field.min;
    }
  }
  return 0;
}

}  // namespace

absl::Status StepExpander::ExpandLibrary(const LibraryStep& step, Phase phase, Steps* out) {
  const LibrarySchema& schema = *FindLibrarySchema(step.function);
  arguments_ += static_cast<int64_t>(schema.fields.size() + step.integers.size());
  if (arguments_ > options_.max_arguments) {
    return PlanError(reason::kLimits, fmt::format("library: the plan's launches have more than {} arguments in all",
                                                  options_.max_arguments));
  }
  v1::LibraryStep result;
  result.set_function(step.function);
  result.set_compute(step.compute);
  LibraryIntegers integers;
  for (const auto& [name, expression] : step.integers) {
    auto value = Evaluate(expression);
    if (!value.ok()) return AnnotatePlanError(value.status(), name);
    WARPSMITH_RETURN_IF_ERROR(CheckSize(name, *value, LeastValue(schema, name)));
    integers[name] = *value;
  }
  std::map<std::string, const Tensor*> tensors;
  std::map<std::string, std::string> dtypes;
  for (const auto& [name, view] : step.operands) {
    auto tensor =
        name == schema.target ? FindWritable(table_, view.tensor, phase) : FindReadable(table_, view.tensor, phase);
    if (!tensor.ok()) return AnnotatePlanError(tensor.status(), name);
    tensors[name] = *tensor;
    dtypes[name] = (*tensor)->dtype;
  }
  WARPSMITH_RETURN_IF_ERROR(CheckLibraryTypes(step.function, step.compute, dtypes));
  WARPSMITH_ASSIGN_OR_RETURN(auto extents, LibraryExtents(step.function, step.enums, &integers));
  for (const auto& [name, view] : step.operands) {
    const Tensor& tensor = *tensors.at(name);
    auto offset = Evaluate(view.offset);
    if (!offset.ok()) return AnnotatePlanError(offset.status(), name + ".offset");
    auto bound = BindView(tensor, *offset);
    if (!bound.ok()) return PlanError(PlanErrorReason(bound.status()), name + "." + Message(bound.status()));
    const int64_t room = tensor.bytes / tensor.element_bytes - *offset;
    if (extents.at(name) > room) {
      return PlanError(reason::kRange, fmt::format("{}: {} elements are used from offset {} on, but {} has {} there",
                                                   name, extents.at(name), *offset, tensor.name, room));
    }
    (*result.mutable_operands())[name] = *std::move(bound);
  }
  const Tensor& target = *tensors.at(std::string(schema.target));
  for (const auto& [name, tensor] : tensors) {
    if (name == schema.target || tensor->buffer != target.buffer) continue;
    return PlanError(
        reason::kArguments,
        fmt::format("{}: {} is also an input; a library step needs a target of its own", schema.target, target.name));
  }
  written_.insert(target.name);
  for (const auto& [name, value] : integers) (*result.mutable_integers())[name] = value;
  for (const auto& [name, value] : step.scalars) (*result.mutable_scalars())[name] = value;
  for (const auto& [name, value] : step.enums) (*result.mutable_enums())[name] = value;
  if (step.function == "attention_forward" && step.scalars.count("attn_scale") == 0) {
    (*result.mutable_scalars())["attn_scale"] = 1.0 / std::sqrt(static_cast<double>(integers.at("d_qk")));
  }
  *out->Add()->mutable_library() = std::move(result);
  return absl::OkStatus();
}

}  // namespace warpsmith::plan
