// The tensors that a plan's names stand for, and the buffers that hold them.
// Threading: immutable after Build. Units: bytes, elements.
#ifndef WARPSMITH_GPU_WORKER_PLAN_TENSOR_TABLE_H_
#define WARPSMITH_GPU_WORKER_PLAN_TENSOR_TABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/status.h"
#include "gpu_worker/plan/plan.h"
#include "warpsmith/v1/execution.pb.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::plan {

struct Tensor {
  std::string name;
  std::string dtype;
  int64_t element_bytes = 0;
  int64_t count = 0;  // elements of the shape
  int64_t bytes = 0;  // that its strides reach over
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // elements
  v1::BufferKind kind = v1::BUFFER_KIND_READ_ONLY;
  bool parameter = false;
  bool persistent = false;
  uint32_t buffer = 0;

  // Whether each byte from the first to the last belongs to an element.
  bool dense() const { return bytes == count * element_bytes; }
};

class TensorTable {
 public:
  // Plan errors name `scratch[i]`; Internal for a signature that contradicts itself.
  static absl::StatusOr<TensorTable> Build(const v1::ProblemSignature& signature,
                                           const std::vector<ScratchTensor>& scratch);

  // Null for a name that is none.
  const Tensor* Find(const std::string& name) const;
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<v1::ExecutionBuffer>& buffers() const { return buffers_; }
  // All scratch, each rounded up to 256 bytes.
  int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  absl::Status AddSignature(const v1::ProblemSignature& signature);
  absl::Status AddScratch(const ScratchTensor& scratch, const std::string& path);
  void AddBuffer(Tensor* tensor);

  std::vector<Tensor> tensors_;
  std::vector<v1::ExecutionBuffer> buffers_;
  std::map<std::string, size_t> by_name_;
  int64_t scratch_bytes_ = 0;
};

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_TENSOR_TABLE_H_
