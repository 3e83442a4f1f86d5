#include "gpu_worker/plan/argument_binder.h"

#include <fmt/format.h>

#include "gpu_worker/plan/literal.h"
#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/source_encoding.h"

namespace warpsmith::plan {
namespace {

constexpr int64_t kTensorMapBytes = 128;

absl::StatusOr<const Tensor*> Find(const TensorTable& table, const std::string& name) {
  const Tensor* tensor = table.Find(name);
  if (tensor != nullptr) return tensor;
  std::string known;
  for (const Tensor& each : table.tensors()) {
    if (known.size() > 400) {
      known += ", ...";
      break;
    }
    known += (known.empty() ? "" : ", ") + each.name;
  }
  return PlanError(reason::kNames, fmt::format("no tensor is called \"{}\"; there are {}", Printable(name), known));
}

std::string_view KindName(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kPointer:
      return "a pointer";
    case ParameterKind::kInteger:
      return "an integer";
    case ParameterKind::kFloat:
      return "a floating-point number";
    case ParameterKind::kStruct:
      return "a struct by value";
    case ParameterKind::kUnknown:
      break;
  }
  return "a parameter";
}

absl::Status Mismatch(std::string_view given, const KernelParameter& parameter) {
  return PlanError(reason::kArguments, fmt::format("{} does not fit the kernel's parameter, {} of {} bytes", given,
                                                   KindName(parameter.kind), parameter.size));
}

}  // namespace

absl::StatusOr<const Tensor*> FindReadable(const TensorTable& table, const std::string& name, Phase phase) {
  WARPSMITH_ASSIGN_OR_RETURN(const Tensor* tensor, Find(table, name));
  if (phase == Phase::kPrepare && !tensor->parameter && !tensor->persistent) {
    return PlanError(reason::kFrozenWeights,
                     fmt::format("{} is neither a parameter nor persistent scratch, and prepare "
                                 "steps may use nothing else",
                                 name));
  }
  return tensor;
}

absl::StatusOr<const Tensor*> FindWritable(const TensorTable& table, const std::string& name, Phase phase) {
  WARPSMITH_ASSIGN_OR_RETURN(const Tensor* tensor, Find(table, name));
  if (phase == Phase::kPrepare) {
    if (tensor->persistent) return tensor;
    return PlanError(reason::kFrozenWeights,
                     fmt::format("{} is no persistent scratch, and prepare steps may write nothing else", name));
  }
  if (tensor->persistent) {
    return PlanError(reason::kFrozenWeights,
                     fmt::format("{} is persistent, so that only prepare steps may write it", name));
  }
  if (tensor->kind == v1::BUFFER_KIND_READ_ONLY) {
    return PlanError(reason::kNames, fmt::format("{} may not be written; outputs and scratch may", name));
  }
  return tensor;
}

absl::StatusOr<v1::BufferView> BindView(const Tensor& tensor, int64_t offset) {
  int64_t bytes = 0;
  // The beginning of a tensor without elements is a place, too.
  if (offset < 0 || __builtin_mul_overflow(offset, tensor.element_bytes, &bytes) ||
      (offset > 0 && bytes >= tensor.bytes)) {
    return PlanError(reason::kRange, fmt::format("offset: {} is outside {}, which reaches over {} elements", offset,
                                                 tensor.name, tensor.bytes / tensor.element_bytes));
  }
  v1::BufferView view;
  view.set_buffer(tensor.buffer);
  view.set_offset_bytes(bytes);
  return view;
}

absl::StatusOr<v1::TensorMap> BindTensorMap(const Tensor& tensor, const TensorMapArgument& map,
                                            const DeviceLimits& limits) {
  auto fail = [](std::string_view field, std::string_view message) {
    return PlanError(reason::kRange, fmt::format("tensor_map.{}: {}", field, message));
  };
  if (limits.compute_capability < 90) {
    return PlanError(reason::kLimits,
                     fmt::format("tensor_map: needs sm_90 or later; here it is sm_{}{}", limits.compute_capability,
                                 limits.emulated ? " (state \"min_arch\": \"sm_90\")" : ""));
  }
  const size_t rank = tensor.shape.size();
  if (rank < 1 || rank > 5)
    return fail("tensor", fmt::format("{} has {} dimensions; 1 to 5 allowed", tensor.name, rank));
  if (map.box.size() != rank) {
    return fail("box", fmt::format("{} sides, but {} has {} dimensions", map.box.size(), tensor.name, rank));
  }
  if (tensor.dtype.starts_with("complex")) return fail("tensor", fmt::format("{} cannot be mapped", tensor.dtype));
  if (tensor.strides.back() != 1) {
    return fail("tensor",
                fmt::format("{}'s innermost dimension has stride {}; 1 needed", tensor.name, tensor.strides.back()));
  }
  v1::TensorMap result;
  result.mutable_view()->set_buffer(tensor.buffer);
  result.set_dtype(tensor.dtype);
  result.set_swizzle(map.swizzle);
  for (size_t i = 0; i < rank; ++i) {
    const size_t dimension = rank - 1 - i;
    const int64_t side = tensor.shape[dimension];
    if (side < 1 || side > int64_t{1} << 32) {
      return fail("tensor",
                  fmt::format("dimension {} of {} has {} elements; 1 to 2^32 allowed", dimension, tensor.name, side));
    }
    result.add_shape(side);
    result.add_box(static_cast<uint32_t>(map.box[i]));
    if (i == 0) continue;
    int64_t stride = 0;
    if (__builtin_mul_overflow(tensor.strides[dimension], tensor.element_bytes, &stride) || stride % 16 != 0 ||
        stride >= int64_t{1} << 40) {
      return fail("tensor",
                  fmt::format("dimension {} of {} has a stride of {} bytes; a multiple of 16 below 2^40 needed",
                              dimension, tensor.name, stride));
    }
    result.add_stride_bytes(stride);
  }
  const int64_t inner = map.box[0] * tensor.element_bytes;
  if (inner % 16 != 0) return fail("box[0]", fmt::format("{} bytes; a multiple of 16 needed", inner));
  const int64_t swizzle = map.swizzle == "128B" ? 128 : map.swizzle == "64B" ? 64 : map.swizzle == "32B" ? 32 : 0;
  if (swizzle > 0 && inner > swizzle) {
    return fail("box[0]", fmt::format("{} bytes; at most {} with swizzle {}", inner, swizzle, map.swizzle));
  }
  return result;
}

absl::Status CheckParameter(const Argument& argument, const KernelParameter& parameter, bool emulated) {
  const ParameterKind kind = parameter.kind;
  const bool word = parameter.size == 8 && !emulated;  // pointer or integer, PTX does not say
  if (const auto* view = std::get_if<View>(&argument)) {
    bool fits = parameter.size == 8 && (kind == ParameterKind::kUnknown || kind == ParameterKind::kPointer ||
                                        (word && kind == ParameterKind::kInteger));
    return fits ? absl::OkStatus() : Mismatch(fmt::format("the address of {}", view->tensor), parameter);
  }
  if (std::holds_alternative<TensorMapArgument>(argument)) {
    bool fits =
        parameter.size == kTensorMapBytes && (kind == ParameterKind::kUnknown || kind == ParameterKind::kStruct);
    return fits ? absl::OkStatus() : Mismatch("a tensor_map, a struct of 128 bytes,", parameter);
  }
  const LiteralType type = std::get<Literal>(argument).type;
  bool fits = parameter.size == LiteralBytes(type);
  if (IsFloatingPoint(type)) {
    // __half and __nv_bfloat16 are structs of two bytes, and plain bits in PTX.
    const bool half = type == LiteralType::kF16 || type == LiteralType::kBf16;
    fits = fits && (kind == ParameterKind::kUnknown || kind == ParameterKind::kFloat ||
                    (half && (kind == ParameterKind::kStruct || (kind == ParameterKind::kInteger && !emulated))));
  } else {
    fits = fits && (kind == ParameterKind::kUnknown || kind == ParameterKind::kInteger ||
                    (word && kind == ParameterKind::kPointer));
  }
  return fits ? absl::OkStatus() : Mismatch(fmt::format("{} (a literal)", LiteralTypeName(type)), parameter);
}

}  // namespace warpsmith::plan
