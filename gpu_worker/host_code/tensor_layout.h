// How a problem's tensors lie in the buffers that the oracle, a candidate's process and the reference's share: the
// oracle's plan, and the description that both processes get.
// Threading: pure functions. Units: bytes, elements. Errors: Internal for a signature that contradicts itself.
#ifndef WARPSMITH_GPU_WORKER_HOST_CODE_TENSOR_LAYOUT_H_
#define WARPSMITH_GPU_WORKER_HOST_CODE_TENSOR_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "common/json.h"
#include "common/status.h"
#include "gpu_worker/reference/shared_buffer.h"
#include "warpsmith/v1/execution.pb.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::host_code {

struct TensorLayout {
  v1::ExecutionPlan plan;  // buffers only
  Json tensors;            // name, dtype, shape, strides, role, buffer; alias and updated where they are
  int64_t slot_bytes = 0;  // of a slot's buffers, guards left out
};

absl::StatusOr<TensorLayout> LayOut(const v1::ProblemSignature& signature);

Json PlacesToJson(const std::vector<std::vector<reference::SharedBuffer>>& slots);

}  // namespace warpsmith::host_code

#endif  // WARPSMITH_GPU_WORKER_HOST_CODE_TENSOR_LAYOUT_H_
