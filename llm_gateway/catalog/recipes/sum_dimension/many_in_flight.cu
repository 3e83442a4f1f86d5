/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "sum_dimension",
            "grid": ["1 + (@{results} / 4 - 1 - (@{results} / 4 - 1) % @{COLUMNS}) / @{COLUMNS}"],
            "block": [@{COLUMNS}, @{SLICES}], "args": ["@{input}", "output"]}]}
*/
// Four neighbouring results a thread, UNROLL rows in flight, each with an accumulator of its own.

constexpr int kReduced = @{reduced};
constexpr int kInner = @{inner} / 4;               // in float4, as every size below
constexpr long long kResults = @{results} / 4;
constexpr int kColumns = @{COLUMNS};
constexpr int kSlices = @{SLICES};
constexpr int kUnroll = @{UNROLL};
constexpr int kSlice = (kReduced + kSlices - 1) / kSlices;  // rows of one slice
constexpr int kRuns = 32;                                   // additions before an accumulator joins the total

__device__ __forceinline__ float4 plus(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void sum_dimension(const float4* __restrict__ input, float4* __restrict__ output) {
  __shared__ float4 sums[kSlices][kColumns];
  const long long result = static_cast<long long>(blockIdx.x) * kColumns + threadIdx.x;
  const int slice = threadIdx.y;
  float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (result < kResults) {
    const float4* column = input + result / kInner * kReduced * kInner + result % kInner;
    const int end = (slice + 1) * kSlice < kReduced ? (slice + 1) * kSlice : kReduced;
    int row = slice * kSlice;
    while (row + kUnroll <= end) {
      float4 run[kUnroll];
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) run[i] = column[static_cast<size_t>(row + i) * kInner];
      row += kUnroll;
      for (int step = 1; step < kRuns && row + kUnroll <= end; ++step, row += kUnroll) {
        float4 loaded[kUnroll];
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) loaded[i] = column[static_cast<size_t>(row + i) * kInner];
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) run[i] = plus(run[i], loaded[i]);
      }
#pragma unroll
      for (int width = kUnroll / 2; width > 0; width /= 2) {
#pragma unroll
        for (int i = 0; i < width; ++i) run[i] = plus(run[i], run[i + width]);
      }
      total = plus(total, run[0]);
    }
    for (; row < end; ++row) total = plus(total, column[static_cast<size_t>(row) * kInner]);
  }
  if (kSlices > 1) {
    sums[slice][threadIdx.x] = total;
    __syncthreads();
  }
  if (slice == 0 && result < kResults) {
    for (int other = 1; other < kSlices; ++other) total = plus(total, sums[other][threadIdx.x]);
    output[result] = total;
  }
}
