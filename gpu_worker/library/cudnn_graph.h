// cuDNN's backend graphs, a little nearer to C++: descriptors that free themselves, tensors, the operations that
// attention is made of, and an execution plan for them.
// Threading: one thread, with the GPU's context current. Units: elements.
// Errors: of the descriptors, kept until status() is asked for; the first one counts, and what comes after does
// nothing. Source of the method: cuDNN's documentation of the backend API and of its fused attention pattern.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_GRAPH_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_GRAPH_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu_worker/library/cudnn_api.h"

namespace warpsmith::library {

// Made, given attributes, finalized; destroyed with the object.
class BackendDescriptor {
 public:
  BackendDescriptor() = default;
  BackendDescriptor(const CudnnApi& api, cudnnBackendDescriptorType_t type, const char* what);
  BackendDescriptor(BackendDescriptor&& other) noexcept;
  BackendDescriptor& operator=(BackendDescriptor&& other) noexcept;
  ~BackendDescriptor();

  void Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void* values);
  void SetDescriptor(cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value);
  void SetInteger(cudnnBackendAttributeName_t name, int64_t value);
  void SetType(cudnnBackendAttributeName_t name, cudnnDataType_t value);
  void SetFlag(cudnnBackendAttributeName_t name, bool value);
  absl::Status Finalize();
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  void Note(cudnnStatus_t result);

  const CudnnApi* api_ = nullptr;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
  const char* what_ = "";
  absl::Status status_;
};

using Shape = std::array<int64_t, 4>;

// Row-major strides.
Shape Packed(const Shape& shape);

struct GraphTensor {
  int64_t id = 0;
  Shape shape{};
  Shape strides{};
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnBackendDescriptor_t descriptor = nullptr;
};

class CudnnGraph {
 public:
  explicit CudnnGraph(const CudnnApi& api) : api_(api) {}

  GraphTensor Tensor(const Shape& shape, const Shape& strides, cudnnDataType_t type);  // in memory
  GraphTensor Virtual(const Shape& shape, cudnnDataType_t type);                       // between operations only
  GraphTensor Scalar(float value);
  GraphTensor Scalar(int32_t value);

  void MatrixProduct(const GraphTensor& a, const GraphTensor& b, const GraphTensor& c);
  void Reduce(cudnnReduceTensorOp_t operation, const GraphTensor& x, const GraphTensor& y);
  // `b` and `selector` may be null. `axis` under 0: none.
  void Pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute, const GraphTensor& x, const GraphTensor* b,
                 const GraphTensor* selector, const GraphTensor& y, int64_t axis = -1);

  // The best engine of cuDNN's heuristics that takes the whole graph within the workspace.
  absl::Status Build(cudnnHandle_t handle, size_t max_workspace_bytes);
  size_t workspace_bytes() const { return workspace_bytes_; }
  absl::Status Execute(cudnnHandle_t handle, const std::map<int64_t, void*>& tensors, void* workspace);

 private:
  union Value {
    float real;
    int32_t integer;
  };
  GraphTensor Make(const Shape& shape, const Shape& strides, cudnnDataType_t type, bool is_virtual, bool by_value);
  BackendDescriptor* Keep(cudnnBackendDescriptorType_t type, const char* what);
  void Finish(BackendDescriptor* descriptor, bool operation);
  absl::StatusOr<std::vector<BackendDescriptor>> Engines(cudnnBackendHeurMode_t mode);

  const CudnnApi& api_;
  std::deque<BackendDescriptor> kept_;  // made in order, destroyed after the plan
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::deque<Value> values_;
  std::map<int64_t, void*> scalars_;
  int64_t next_id_ = 1;
  absl::Status status_;
  BackendDescriptor graph_;
  BackendDescriptor engine_;
  BackendDescriptor plan_;
  size_t workspace_bytes_ = 0;
};

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_GRAPH_H_
