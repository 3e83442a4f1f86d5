/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "sum_dimension",
            "grid": ["1 + (@{results} / 4 - 1 - (@{results} / 4 - 1) % @{COLUMNS}) / @{COLUMNS}"],
            "block": [@{COLUMNS}, @{SLICES}], "args": ["@{input}", "output"]}]}
*/
// Four neighbouring results a thread, in one float4; slices of a block are joined in shared memory.

constexpr int kReduced = @{reduced};
constexpr int kInner = @{inner} / 4;               // in float4, as every size below
constexpr long long kResults = @{results} / 4;
constexpr int kColumns = @{COLUMNS};
constexpr int kSlices = @{SLICES};
constexpr int kRun = 32;

__device__ __forceinline__ void add(float4& sum, float4 value) {
  sum.x += value.x;
  sum.y += value.y;
  sum.z += value.z;
  sum.w += value.w;
}

__global__ void sum_dimension(const float4* __restrict__ input, float4* __restrict__ output) {
  __shared__ float4 sums[kSlices][kColumns];
  const long long result = static_cast<long long>(blockIdx.x) * kColumns + threadIdx.x;
  const int slice = threadIdx.y;
  float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (result < kResults) {
    const float4* column = input + result / kInner * kReduced * kInner + result % kInner;
    for (int first = slice; first < kReduced; first += kSlices * kRun) {
      const int end = first + kSlices * kRun < kReduced ? first + kSlices * kRun : kReduced;
      float4 run = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      for (int i = first; i < end; i += kSlices) add(run, column[static_cast<size_t>(i) * kInner]);
      add(total, run);
    }
  }
  if (kSlices > 1) {
    sums[slice][threadIdx.x] = total;
    __syncthreads();
  }
  if (slice == 0 && result < kResults) {
    for (int other = 1; other < kSlices; ++other) add(total, sums[other][threadIdx.x]);
    output[result] = total;
  }
}
