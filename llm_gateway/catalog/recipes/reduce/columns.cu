/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "reduce", "grid": [@{blocks}, @{outer}], "block": [@{COLUMNS}, @{SLICES}],
            "args": ["@{input}", "output"]}]}
*/
// A block takes COLUMNS groups of kWide neighbouring results; its slices share the reduced dimension and are joined in
// shared memory. kTogether rows are requested before the first is used. Sums are kept short by adding runs of rows.

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

constexpr int kColumns = @{COLUMNS}, kSlices = @{SLICES}, kWide = @{WIDE}, kTogether = @{TOGETHER};
constexpr int kRun = 32 / kTogether > 0 ? 32 / kTogether : 1;

__global__ void __launch_bounds__(kColumns * kSlices)
    reduce(const float* __restrict__ input, Result* __restrict__ output) {
  __shared__ Partial of_slices[kSlices][kColumns * kWide];
  const int first = (blockIdx.x * kColumns + threadIdx.x) * kWide;
  const float* from = input + static_cast<size_t>(blockIdx.y) * kReduced * kInner + first;
  const bool inside = first < kInner;
  Partial total[kWide];
#pragma unroll
  for (int j = 0; j < kWide; ++j) total[j] = nothing();
  if (inside) {
    for (int row = threadIdx.y * kTogether; row < kReduced;) {
      Partial run[kWide];
#pragma unroll
      for (int j = 0; j < kWide; ++j) run[j] = nothing();
      for (int step = 0; step < kRun && row < kReduced; ++step, row += kSlices * kTogether) {
        float held[kTogether][kWide];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          const size_t at = static_cast<size_t>(row + i < kReduced ? row + i : kReduced - 1) * kInner;
          if constexpr (kWide == 4) {
            const float4 v = *reinterpret_cast<const float4*>(from + at);
            held[i][0] = v.x;
            held[i][1] = v.y;
            held[i][2] = v.z;
            held[i][3] = v.w;
          } else {
#pragma unroll
            for (int j = 0; j < kWide; ++j) held[i][j] = from[at + j];
          }
        }
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          if (row + i >= kReduced) continue;
#pragma unroll
          for (int j = 0; j < kWide; ++j) join(run[j], {held[i][j], row + i});
        }
      }
#pragma unroll
      for (int j = 0; j < kWide; ++j) join(total[j], run[j]);
    }
  }
  if (kSlices > 1) {
#pragma unroll
    for (int j = 0; j < kWide; ++j) of_slices[threadIdx.y][threadIdx.x * kWide + j] = total[j];
    __syncthreads();
    if (threadIdx.y == 0) {
      for (int slice = 1; slice < kSlices; ++slice) {
#pragma unroll
        for (int j = 0; j < kWide; ++j) join(total[j], of_slices[slice][threadIdx.x * kWide + j]);
      }
    }
  }
  if (inside && threadIdx.y == 0) {
#pragma unroll
    for (int j = 0; j < kWide; ++j) output[static_cast<size_t>(blockIdx.y) * kInner + first + j] = finish(total[j]);
  }
}
