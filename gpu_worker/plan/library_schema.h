// Which fields a library step has, as cuBLAS and cuDNN name them, and how far its operands reach.
//
// gemm (cublasGemmEx, column-major): transa, transb ("N" default, "T"), m, n, k, alpha (1), A, lda, B, ldb, beta (0),
// C,
//   ldc. gemm_strided_batched: and strideA, strideB, strideC (elements), batchCount.
// conv_forward (cudnnConvolutionForward): x, w, y; dimA (n, c, spatial...), filterDimA (k, c / groupCount, spatial...),
//   padA, filterStrideA, dilationA (one for each of 2 or 3 spatial dimensions; 0, 1, 1), groupCount (1), alpha (1),
//   beta (0), format ("NCHW" default, "NHWC"). Lists become numbered integers: dimA0, dimA1, ...; yDimA0, ... are
//   added.
// attention_forward (cuDNN's scaled dot-product attention): q [b, h_q, s_q, d_qk], k [b, h_k, s_kv, d_qk],
//   v [b, h_v, s_kv, d_v], o [b, h_q, s_q, d_v], contiguous; h_k and h_v divide h_q; attn_scale (1 / sqrt(d_qk));
//   causal_mask ("none" default, "top_left", "bottom_right").
// All: compute (fp32, tf32, fp16, bf16).
//
// Threading: pure functions. Units: elements. Errors: plan errors whose message begins with the field's name.
#ifndef WARPSMITH_GPU_WORKER_PLAN_LIBRARY_SCHEMA_H_
#define WARPSMITH_GPU_WORKER_PLAN_LIBRARY_SCHEMA_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::plan {

struct LibraryField {
  enum class Kind { kInteger, kIntegerList, kScalar, kOperand, kEnum };
  std::string_view name;
  Kind kind;
  bool required;
  std::optional<double> fallback;         // integers and scalars; lists: for each element
  std::vector<std::string_view> choices;  // enums, default first
  int64_t min;                            // integers
};

struct LibrarySchema {
  std::string_view function;
  std::vector<LibraryField> fields;
  std::string_view target;  // the operand that is written
};

// Null for a name that is no function.
const LibrarySchema* FindLibrarySchema(std::string_view function);
std::vector<std::string_view> LibraryFunctions();

using LibraryIntegers = std::map<std::string, int64_t>;

// Checks how the sizes fit together, adds derived ones (yDimA0, ...), and returns elements that each operand reaches
// over from its view's beginning.
absl::StatusOr<std::map<std::string, int64_t>> LibraryExtents(std::string_view function,
                                                              const std::map<std::string, std::string>& enums,
                                                              LibraryIntegers* integers);

// Whether operands of these types can be computed at this class: all inputs alike, the target alike or float32.
absl::Status CheckLibraryTypes(std::string_view function, std::string_view compute,
                               const std::map<std::string, std::string>& dtypes);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_LIBRARY_SCHEMA_H_
