// Attention through cuDNN's graphs: the pattern scores = q kᵀ, scaled, masked, softmax by maximum and sum, times v,
// which cuDNN fuses into one kernel. Scores and sums are float32; probabilities are rounded to the operands' type
// before they meet v. Threading: one thread, with the GPU's context current. Errors: as LibraryRunner's;
// FailedPrecondition where this cuDNN has no engine for the shape on this GPU.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_ATTENTION_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_ATTENTION_H_

#include <map>
#include <memory>
#include <string>

#include "gpu_worker/library/cudnn_runner.h"

namespace warpsmith::library {

// `runner` outlives the call.
absl::StatusOr<std::shared_ptr<PreparedCall>> PrepareAttention(CudnnRunner* runner, const AttentionCall& call,
                                                               const std::map<std::string, CUdeviceptr>& addresses);

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_ATTENTION_H_
