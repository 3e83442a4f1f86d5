/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [@{SPLITS}, @{results}]}],
 "steps": [
   {"kernel": "partial_sums",
    "grid": ["1 + (@{results} / 4 - 1 - (@{results} / 4 - 1) % @{COLUMNS}) / @{COLUMNS}", @{SPLITS}],
    "block": [@{COLUMNS}], "args": ["@{input}", "partial"]},
   {"kernel": "add_partial_sums",
    "grid": ["1 + (@{results} / 4 - 1 - (@{results} / 4 - 1) % @{COLUMNS}) / @{COLUMNS}"],
    "block": [@{COLUMNS}], "args": ["partial", "output"]}]}
*/
// The reduced dimension is split over blocks; a second launch adds the partial sums in a fixed order.

constexpr int kReduced = @{reduced};
constexpr int kInner = @{inner} / 4;               // in float4, as every size below
constexpr long long kResults = @{results} / 4;
constexpr int kColumns = @{COLUMNS};
constexpr int kSplits = @{SPLITS};
constexpr int kUnroll = @{UNROLL};
constexpr int kRuns = 32;                                   // additions before an accumulator joins the total
constexpr int kSplit = (kReduced + kSplits - 1) / kSplits;  // rows of one split

__device__ __forceinline__ float4 plus(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// x: group of results; y: split.
__global__ void __launch_bounds__(kColumns)
    partial_sums(const float4* __restrict__ input, float4* __restrict__ partial) {
  const long long result = static_cast<long long>(blockIdx.x) * kColumns + threadIdx.x;
  if (result >= kResults) return;
  const float4* column = input + result / kInner * kReduced * kInner + result % kInner;
  const int split = blockIdx.y;
  const int end = (split + 1) * kSplit < kReduced ? (split + 1) * kSplit : kReduced;
  int row = split * kSplit;
  float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  while (row + kUnroll <= end) {
    float4 run[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) run[i] = column[static_cast<size_t>(row + i) * kInner];
    row += kUnroll;
    for (int step = 1; step < kRuns && row + kUnroll <= end; ++step, row += kUnroll) {
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) run[i] = plus(run[i], column[static_cast<size_t>(row + i) * kInner]);
    }
#pragma unroll
    for (int width = kUnroll / 2; width > 0; width /= 2) {
#pragma unroll
      for (int i = 0; i < width; ++i) run[i] = plus(run[i], run[i + width]);
    }
    total = plus(total, run[0]);
  }
  for (; row < end; ++row) total = plus(total, column[static_cast<size_t>(row) * kInner]);
  partial[split * kResults + result] = total;
}

__global__ void __launch_bounds__(kColumns)
    add_partial_sums(const float4* __restrict__ partial, float4* __restrict__ output) {
  const long long result = static_cast<long long>(blockIdx.x) * kColumns + threadIdx.x;
  if (result >= kResults) return;
  float4 total = partial[result];
#pragma unroll
  for (int split = 1; split < kSplits; ++split) total = plus(total, partial[split * kResults + result]);
  output[result] = total;
}
