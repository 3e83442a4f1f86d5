#include "gpu_worker/plan/tensor_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu_worker/plan/dtype.h"
#include "gpu_worker/plan/plan_error.h"

namespace warpsmith::plan {
namespace {

// Elements of a shape and bytes that its strides reach over; false on overflow or a negative size.
bool Measure(Tensor* tensor) {
  tensor->count = 1;
  int64_t last = 0;
  for (size_t i = 0; i < tensor->shape.size(); ++i) {
    const int64_t side = tensor->shape[i], stride = tensor->strides[i];
    int64_t reach = 0;
    if (side < 0 || stride < 0 || __builtin_mul_overflow(tensor->count, side, &tensor->count)) return false;
    if (side == 0) continue;
    if (__builtin_mul_overflow(side - 1, stride, &reach) || __builtin_add_overflow(last, reach, &last)) return false;
  }
  const int64_t reached = tensor->count == 0 ? 0 : last;
  if (tensor->count > 0 && __builtin_add_overflow(reached, int64_t{1}, &last)) return false;
  if (tensor->count == 0) last = 0;
  int64_t dense_bytes = 0;
  return !__builtin_mul_overflow(last, tensor->element_bytes, &tensor->bytes) &&
         !__builtin_mul_overflow(tensor->count, tensor->element_bytes, &dense_bytes);
}

bool ContiguousStrides(Tensor* tensor) {
  tensor->strides.assign(tensor->shape.size(), 1);
  int64_t stride = 1;
  for (size_t i = tensor->shape.size(); i-- > 0;) {
    tensor->strides[i] = stride;
    if (__builtin_mul_overflow(stride, std::max<int64_t>(tensor->shape[i], 1), &stride)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<TensorTable> TensorTable::Build(const v1::ProblemSignature& signature,
                                               const std::vector<ScratchTensor>& scratch) {
  TensorTable table;
  WARPSMITH_RETURN_IF_ERROR(table.AddSignature(signature));
  for (size_t i = 0; i < scratch.size(); ++i) {
    WARPSMITH_RETURN_IF_ERROR(table.AddScratch(scratch[i], fmt::format("scratch[{}]", i)));
  }
  return table;
}

const Tensor* TensorTable::Find(const std::string& name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

void TensorTable::AddBuffer(Tensor* tensor) {
  tensor->buffer = static_cast<uint32_t>(buffers_.size());
  v1::ExecutionBuffer buffer;
  buffer.set_name(tensor->name);
  buffer.set_dtype(tensor->dtype);
  buffer.set_bytes(tensor->bytes);
  buffer.set_kind(tensor->kind);
  buffer.set_persistent(tensor->persistent);
  buffers_.push_back(std::move(buffer));
}

absl::Status TensorTable::AddSignature(const v1::ProblemSignature& signature) {
  std::map<std::string, std::string> alias_of;
  for (const v1::TensorSpec& spec : signature.tensors()) {
    Tensor tensor;
    tensor.name = spec.name();
    tensor.dtype = spec.dtype();
    std::optional<int64_t> element_bytes = DtypeBytes(spec.dtype());
    if (!element_bytes.has_value()) {
      return Internal(fmt::format("signature: {} has the unknown dtype {}", spec.name(), spec.dtype()));
    }
    tensor.element_bytes = *element_bytes;
    tensor.shape.assign(spec.shape().begin(), spec.shape().end());
    tensor.strides.assign(spec.strides().begin(), spec.strides().end());
    const bool output = spec.role() == v1::TENSOR_ROLE_OUTPUT;
    bool fits = true;
    if (output || tensor.strides.size() != tensor.shape.size()) fits = ContiguousStrides(&tensor);
    if (!fits || !Measure(&tensor)) return Internal(fmt::format("signature: {} has no valid size", spec.name()));
    if (!output) tensor.bytes = std::max(tensor.bytes, spec.storage_bytes());
    tensor.parameter = spec.role() == v1::TENSOR_ROLE_PARAMETER;
    if (output) tensor.kind = v1::BUFFER_KIND_OUTPUT;
    if (spec.mutated() && signature.mutates_policy() == v1::MUTATES_POLICY_REQUIRED)
      tensor.kind = v1::BUFFER_KIND_UPDATED;
    if (!by_name_.emplace(tensor.name, tensors_.size()).second) {
      return Internal(fmt::format("signature: {} stands twice", spec.name()));
    }
    if (!output && !spec.alias_of().empty()) {
      alias_of[spec.name()] = spec.alias_of();
    } else {
      AddBuffer(&tensor);
    }
    tensors_.push_back(std::move(tensor));
  }
  for (const auto& [name, first_target] : alias_of) {
    std::string target = first_target;
    for (size_t hops = 0; alias_of.count(target) > 0 && hops <= alias_of.size(); ++hops) target = alias_of[target];
    const Tensor* owner = Find(target);
    if (owner == nullptr || alias_of.count(target) > 0) {
      return Internal(
          fmt::format("signature: {} is an alias of {}, which is no tensor of its own", name, first_target));
    }
    Tensor& alias = tensors_[by_name_.at(name)];
    v1::ExecutionBuffer& buffer = buffers_[owner->buffer];
    alias.buffer = owner->buffer;
    buffer.set_bytes(std::max(buffer.bytes(), alias.bytes));
    if (alias.kind == v1::BUFFER_KIND_UPDATED) buffer.set_kind(alias.kind);
  }
  // A buffer that is updated through one of its names is so through all.
  for (const auto& [name, target] : alias_of) {
    Tensor& alias = tensors_[by_name_.at(name)];
    alias.kind = buffers_[alias.buffer].kind();
  }
  for (Tensor& tensor : tensors_) tensor.kind = buffers_[tensor.buffer].kind();
  return absl::OkStatus();
}

absl::Status TensorTable::AddScratch(const ScratchTensor& scratch, const std::string& path) {
  Tensor tensor;
  tensor.name = scratch.name;
  tensor.dtype = scratch.dtype;
  tensor.element_bytes = DtypeBytes(scratch.dtype).value_or(1);
  tensor.shape = scratch.shape;
  tensor.kind = v1::BUFFER_KIND_SCRATCH;
  tensor.persistent = scratch.persistent;
  if (!by_name_.emplace(tensor.name, tensors_.size()).second) {
    return PlanError(reason::kNames,
                     fmt::format("{}.name: {} is a tensor of the problem; choose another name", path, tensor.name));
  }
  int64_t rounded = 0;
  if (!ContiguousStrides(&tensor) || !Measure(&tensor) ||
      __builtin_add_overflow(tensor.bytes, int64_t{255}, &rounded) ||
      __builtin_add_overflow(scratch_bytes_, rounded / 256 * 256, &scratch_bytes_)) {
    return PlanError(reason::kOutOfMemory, fmt::format("{}.shape: its size overflows 64 bits", path));
  }
  AddBuffer(&tensor);
  tensors_.push_back(std::move(tensor));
  return absl::OkStatus();
}

}  // namespace warpsmith::plan
