// Library steps read into the terms of cuBLAS and cuDNN, without either: sizes, types, defaults.
// Threading: pure functions. Units: elements.
// Errors: InvalidArgument for a step that no plan's checks would have let through, FailedPrecondition for one that the
// libraries cannot do. Messages begin with the function and name the field.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_LIBRARY_CALL_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_LIBRARY_CALL_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::library {

enum class DataType { kFloat32, kFloat16, kBfloat16 };
enum class Compute { kFp32, kTf32, kFp16, kBf16 };
enum class CausalMask { kNone, kTopLeft, kBottomRight };

absl::StatusOr<DataType> DataTypeOf(std::string_view dtype);
std::string_view Name(DataType type);
int64_t ElementBytes(DataType type);

using OperandTypes = std::map<std::string, DataType>;

// C = alpha * op(A) * op(B) + beta * C, every matrix column-major: op(A) is m by k, op(B) k by n, C m by n.
struct GemmCall {
  bool transpose_a = false, transpose_b = false;
  int m = 0, n = 0, k = 0;
  int lda = 0, ldb = 0, ldc = 0;
  float alpha = 1, beta = 0;
  bool batched = false;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  int batch = 1;
  DataType input = DataType::kFloat32, output = DataType::kFloat32;
  Compute compute = Compute::kFp32;
  int64_t c_extent = 0;  // elements that C reaches over
};

// y = alpha * x convolved with w + beta * y, as PyTorch's conv2d and conv3d (cross-correlation).
struct ConvolutionCall {
  std::vector<int> x, w, y;  // n, c, spatial...; k, c / groups, window...; n, k, spatial...
  std::vector<int> padding, stride, dilation;
  int groups = 1;
  float alpha = 1, beta = 0;
  bool channels_last = false;  // all three tensors
  DataType type = DataType::kFloat32;
  Compute compute = Compute::kFp32;
  int64_t y_extent = 0;
};

// o = softmax(scale * q * kᵀ, masked) * v over contiguous [batch, heads, length, width] tensors.
struct AttentionCall {
  int64_t batch = 0, heads_q = 0, heads_k = 0, heads_v = 0;
  int64_t length_q = 0, length_kv = 0, width_qk = 0, width_v = 0;
  float scale = 1;
  CausalMask mask = CausalMask::kNone;
  DataType type = DataType::kFloat16;
  int64_t o_extent() const { return batch * heads_q * length_q * width_v; }
};

absl::StatusOr<GemmCall> ReadGemm(const v1::LibraryStep& step, const OperandTypes& types);
absl::StatusOr<ConvolutionCall> ReadConvolution(const v1::LibraryStep& step, const OperandTypes& types);
absl::StatusOr<AttentionCall> ReadAttention(const v1::LibraryStep& step, const OperandTypes& types);

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_LIBRARY_CALL_H_
