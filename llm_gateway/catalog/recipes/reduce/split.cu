/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "values", "dtype": "float32", "shape": [@{SPLITS}, @{results}]},
             {"name": "indexes", "dtype": "int32", "shape": [@{SPLITS}, @{results}]}],
 "steps": [{"kernel": "reduce_part", "grid": [@{blocks}, @{outer}, @{SPLITS}], "block": [@{BLOCK}],
            "args": ["@{input}", "values", "indexes"]},
           {"kernel": "join_parts", "grid": [@{result_blocks}], "block": [256], "args": ["values", "indexes", "output"]}]}
*/
// Blocks share the reduced dimension too; their partial results meet in scratch, in a fixed order.

enum class Operation { mean, max, amax = max, min, amin = min, argmax, argmin };
constexpr Operation kOperation = Operation::@{operation};
constexpr bool kLargest = kOperation == Operation::max || kOperation == Operation::argmax;
constexpr bool kIndex = kOperation == Operation::argmax || kOperation == Operation::argmin;
constexpr int kReduced = @{reduced};
constexpr int kInner = @{inner};
using Result = @{result};

struct Partial {
  float value;
  int index;
};

__device__ __forceinline__ Partial nothing() {
  if constexpr (kOperation == Operation::mean) return {0.0f, 0};
  return {kLargest ? -__int_as_float(0x7f800000) : __int_as_float(0x7f800000), kReduced};
}

// Of equal extrema the first counts.
__device__ __forceinline__ void join(Partial& a, Partial b) {
  if constexpr (kOperation == Operation::mean) {
    a.value += b.value;
  } else {
    const bool better = kLargest ? b.value > a.value : b.value < a.value;
    if (better || (kIndex && b.value == a.value && b.index < a.index)) a = b;
  }
}

__device__ __forceinline__ Result finish(Partial total) {
  if constexpr (kOperation == Operation::mean) return static_cast<Result>(total.value / kReduced);
  if constexpr (kIndex) return static_cast<Result>(total.index < kReduced ? total.index : 0);
  return static_cast<Result>(total.value);
}

constexpr int kSplits = @{SPLITS}, kTogether = @{TOGETHER}, kResults = @{results};
constexpr int kPart = (kReduced + kSplits - 1) / kSplits;

__global__ void __launch_bounds__(@{BLOCK})
    reduce_part(const float* __restrict__ input, float* __restrict__ values, int* __restrict__ indexes) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= kInner) return;
  const float* from = input + static_cast<size_t>(blockIdx.y) * kReduced * kInner + column;
  const int begin = blockIdx.z * kPart, end = begin + kPart < kReduced ? begin + kPart : kReduced;
  Partial total = nothing();
  for (int row = begin; row < end; row += kTogether) {
    float held[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      held[i] = from[static_cast<size_t>(row + i < end ? row + i : end - 1) * kInner];
    }
    Partial part = nothing();
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (row + i < end) join(part, {held[i], row + i});
    }
    join(total, part);
  }
  const size_t at = static_cast<size_t>(blockIdx.z) * kResults + static_cast<size_t>(blockIdx.y) * kInner + column;
  values[at] = total.value;
  indexes[at] = total.index;
}

__global__ void join_parts(const float* __restrict__ values, const int* __restrict__ indexes,
                           Result* __restrict__ output) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= kResults) return;
  Partial total = nothing();
  for (int split = 0; split < kSplits; ++split) {
    const size_t from = static_cast<size_t>(split) * kResults + at;
    join(total, {values[from], indexes[from]});
  }
  output[at] = finish(total);
}
