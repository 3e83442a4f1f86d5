#include "gpu_worker/library/cudnn_graph.h"

#include <fmt/format.h>

#include <utility>

namespace warpsmith::library {

BackendDescriptor::BackendDescriptor(const CudnnApi& api, cudnnBackendDescriptorType_t type, const char* what)
    : api_(&api), what_(what) {
  Note(api.cudnnBackendCreateDescriptor(type, &descriptor_));
}

BackendDescriptor::BackendDescriptor(BackendDescriptor&& other) noexcept { *this = std::move(other); }

BackendDescriptor& BackendDescriptor::operator=(BackendDescriptor&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(what_, other.what_);
  std::swap(status_, other.status_);
  return *this;
}

BackendDescriptor::~BackendDescriptor() {
  if (descriptor_ != nullptr) api_->cudnnBackendDestroyDescriptor(descriptor_);
}

void BackendDescriptor::Note(cudnnStatus_t result) {
  if (status_.ok()) status_ = CudnnStatus(*api_, result, what_);
}

void BackendDescriptor::Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                            const void* values) {
  if (status_.ok()) Note(api_->cudnnBackendSetAttribute(descriptor_, name, type, count, values));
}

void BackendDescriptor::SetDescriptor(cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value) {
  Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

void BackendDescriptor::SetInteger(cudnnBackendAttributeName_t name, int64_t value) {
  Set(name, CUDNN_TYPE_INT64, 1, &value);
}

void BackendDescriptor::SetType(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
  Set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}

void BackendDescriptor::SetFlag(cudnnBackendAttributeName_t name, bool value) {
  Set(name, CUDNN_TYPE_BOOLEAN, 1, &value);
}

absl::Status BackendDescriptor::Finalize() {
  if (status_.ok()) Note(api_->cudnnBackendFinalize(descriptor_));
  return status_;
}

Shape Packed(const Shape& shape) { return {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1}; }

BackendDescriptor* CudnnGraph::Keep(cudnnBackendDescriptorType_t type, const char* what) {
  kept_.emplace_back(api_, type, what);
  return &kept_.back();
}

void CudnnGraph::Finish(BackendDescriptor* descriptor, bool operation) {
  absl::Status finished = descriptor->Finalize();
  if (status_.ok()) status_ = std::move(finished);
  if (operation) operations_.push_back(descriptor->get());
}

GraphTensor CudnnGraph::Make(const Shape& shape, const Shape& strides, cudnnDataType_t type, bool is_virtual,
                             bool by_value) {
  GraphTensor tensor;
  tensor.id = next_id_++;
  tensor.shape = shape;
  tensor.strides = strides;
  tensor.type = type;
  BackendDescriptor* descriptor = Keep(CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor of a graph");
  descriptor->SetInteger(CUDNN_ATTR_TENSOR_UNIQUE_ID, tensor.id);
  descriptor->SetType(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  descriptor->Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, tensor.shape.data());
  descriptor->Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, tensor.strides.data());
  descriptor->SetInteger(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16);
  if (is_virtual) descriptor->SetFlag(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
  if (by_value) descriptor->SetFlag(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
  Finish(descriptor, false);
  tensor.descriptor = descriptor->get();
  return tensor;
}

GraphTensor CudnnGraph::Tensor(const Shape& shape, const Shape& strides, cudnnDataType_t type) {
  return Make(shape, strides, type, false, false);
}

GraphTensor CudnnGraph::Virtual(const Shape& shape, cudnnDataType_t type) {
  return Make(shape, Packed(shape), type, true, false);
}

GraphTensor CudnnGraph::Scalar(float value) {
  GraphTensor tensor = Make({1, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_FLOAT, false, true);
  values_.emplace_back().real = value;
  scalars_[tensor.id] = &values_.back();
  return tensor;
}

GraphTensor CudnnGraph::Scalar(int32_t value) {
  GraphTensor tensor = Make({1, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_INT32, false, true);
  values_.emplace_back().integer = value;
  scalars_[tensor.id] = &values_.back();
  return tensor;
}

void CudnnGraph::MatrixProduct(const GraphTensor& a, const GraphTensor& b, const GraphTensor& c) {
  BackendDescriptor* product = Keep(CUDNN_BACKEND_MATMUL_DESCRIPTOR, "a matrix product of a graph");
  product->SetType(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  Finish(product, false);
  BackendDescriptor* operation = Keep(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, "a matrix product of a graph");
  operation->SetDescriptor(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a.descriptor);
  operation->SetDescriptor(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b.descriptor);
  operation->SetDescriptor(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c.descriptor);
  operation->SetDescriptor(CUDNN_ATTR_OPERATION_MATMUL_DESC, product->get());
  Finish(operation, true);
}

void CudnnGraph::Reduce(cudnnReduceTensorOp_t mode, const GraphTensor& x, const GraphTensor& y) {
  BackendDescriptor* reduction = Keep(CUDNN_BACKEND_REDUCTION_DESCRIPTOR, "a reduction of a graph");
  reduction->SetType(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  reduction->Set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &mode);
  Finish(reduction, false);
  BackendDescriptor* operation = Keep(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, "a reduction of a graph");
  operation->SetDescriptor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x.descriptor);
  operation->SetDescriptor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y.descriptor);
  operation->SetDescriptor(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction->get());
  Finish(operation, true);
}

void CudnnGraph::Pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute, const GraphTensor& x,
                           const GraphTensor* b, const GraphTensor* selector, const GraphTensor& y, int64_t axis) {
  BackendDescriptor* pointwise = Keep(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "an elementwise step of a graph");
  pointwise->Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  pointwise->SetType(CUDNN_ATTR_POINTWISE_MATH_PREC, compute);
  if (axis >= 0) pointwise->SetInteger(CUDNN_ATTR_POINTWISE_AXIS, axis);
  Finish(pointwise, false);
  BackendDescriptor* operation = Keep(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "an elementwise step of a graph");
  operation->SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise->get());
  operation->SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x.descriptor);
  if (b != nullptr) operation->SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b->descriptor);
  if (selector != nullptr) operation->SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, selector->descriptor);
  operation->SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y.descriptor);
  Finish(operation, true);
}

absl::StatusOr<std::vector<BackendDescriptor>> CudnnGraph::Engines(cudnnBackendHeurMode_t mode) {
  BackendDescriptor heuristics(api_, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "cuDNN's choice of an engine");
  heuristics.SetDescriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_.get());
  heuristics.Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  WARPSMITH_RETURN_IF_ERROR(heuristics.Finalize());
  int64_t count = 0;
  WARPSMITH_RETURN_IF_ERROR(
      CudnnStatus(api_,
                  api_.cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
                  "cuDNN's choice of an engine"));
  std::vector<BackendDescriptor> engines;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < count; ++i) {
    engines.emplace_back(api_, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "an engine of cuDNN");
    raw.push_back(engines.back().get());
  }
  if (count == 0) return engines;
  WARPSMITH_RETURN_IF_ERROR(
      CudnnStatus(api_,
                  api_.cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, raw.data()),
                  "cuDNN's choice of an engine"));
  engines.erase(engines.begin() + count, engines.end());
  return engines;
}

absl::Status CudnnGraph::Build(cudnnHandle_t handle, size_t max_workspace_bytes) {
  WARPSMITH_RETURN_IF_ERROR(status_);
  graph_ = BackendDescriptor(api_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "a graph");
  graph_.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  graph_.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(operations_.size()),
             operations_.data());
  WARPSMITH_RETURN_IF_ERROR(graph_.Finalize());
  absl::Status last = FailedPrecondition("cuDNN knows no engine for it");
  for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    auto engines = Engines(mode);
    if (!engines.ok()) {
      last = engines.status();
      continue;
    }
    for (BackendDescriptor& engine : *engines) {
      BackendDescriptor plan(api_, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "an engine of cuDNN");
      plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
      plan.SetDescriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine.get());
      if (absl::Status finished = plan.Finalize(); !finished.ok()) {
        last = finished;
        continue;
      }
      int64_t bytes = 0, count = 0;
      last = CudnnStatus(api_,
                         api_.cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                       CUDNN_TYPE_INT64, 1, &count, &bytes),
                         "a plan's workspace");
      if (!last.ok()) continue;
      if (bytes < 0 || static_cast<size_t>(bytes) > max_workspace_bytes) {
        last = ResourceExhausted(fmt::format("an engine needs a workspace of {} MiB", bytes >> 20));
        continue;
      }
      engine_ = std::move(engine);
      plan_ = std::move(plan);
      workspace_bytes_ = static_cast<size_t>(bytes);
      return absl::OkStatus();
    }
  }
  return last;
}

absl::Status CudnnGraph::Execute(cudnnHandle_t handle, const std::map<int64_t, void*>& tensors, void* workspace) {
  std::vector<int64_t> ids;
  std::vector<void*> pointers;
  for (const auto* table : {&tensors, &std::as_const(scalars_)}) {
    for (const auto& [id, pointer] : *table) {
      ids.push_back(id);
      pointers.push_back(pointer);
    }
  }
  BackendDescriptor pack(api_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "the addresses of a graph");
  pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, static_cast<int64_t>(ids.size()), ids.data());
  pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<int64_t>(pointers.size()),
           pointers.data());
  pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  WARPSMITH_RETURN_IF_ERROR(pack.Finalize());
  return CudnnStatus(api_, api_.cudnnBackendExecute(handle, plan_.get(), pack.get()), "running a graph");
}

}  // namespace warpsmith::library
