/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "reduce", "grid": [@{outer}], "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// A block a row of contiguous elements; partial results meet through shuffles and once through shared memory.

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

constexpr int kBlock = @{BLOCK}, kTogether = @{TOGETHER}, kWarps = kBlock / 32;

__device__ __forceinline__ Partial join_warp(Partial mine) {
  for (int offset = 16; offset > 0; offset /= 2) {
    join(mine, {__shfl_xor_sync(0xffffffffu, mine.value, offset), __shfl_xor_sync(0xffffffffu, mine.index, offset)});
  }
  return mine;
}

__global__ void __launch_bounds__(kBlock) reduce(const float* __restrict__ input, Result* __restrict__ output) {
  __shared__ Partial of_warps[kWarps];
  const float* row = input + static_cast<size_t>(blockIdx.x) * kReduced;
  Partial total = nothing();
  for (int first = threadIdx.x; first < kReduced; first += kBlock * kTogether) {
    float held[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = first + i * kBlock;
      held[i] = row[at < kReduced ? at : kReduced - 1];
    }
    Partial part = nothing();
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = first + i * kBlock;
      if (at < kReduced) join(part, {held[i], at});
    }
    join(total, part);
  }
  total = join_warp(total);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < kWarps; ++warp) join(total, of_warps[warp]);
    output[blockIdx.x] = finish(total);
  }
}
