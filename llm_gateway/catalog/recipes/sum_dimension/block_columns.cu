/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "sum_dimension", "grid": ["1 + (@{results} - 1 - (@{results} - 1) % 32) / 32"],
            "block": [32, @{SLICES}], "args": ["@{input}", "output"]}]}
*/
// A block of 32 results by SLICES threads each; slices are joined in shared memory.

constexpr int kReduced = @{reduced};
constexpr int kInner = @{inner};
constexpr long long kResults = @{results};
constexpr int kSlices = @{SLICES};
constexpr int kRun = 32;

__global__ void sum_dimension(const float* __restrict__ input, float* __restrict__ output) {
  __shared__ float sums[kSlices][32];
  const long long result = static_cast<long long>(blockIdx.x) * 32 + threadIdx.x;
  const int slice = threadIdx.y;
  float total = 0.0f;
  if (result < kResults) {
    const float* column = input + result / kInner * kReduced * kInner + result % kInner;
    for (int first = slice; first < kReduced; first += kSlices * kRun) {
      const int end = first + kSlices * kRun < kReduced ? first + kSlices * kRun : kReduced;
      float run = 0.0f;
      for (int i = first; i < end; i += kSlices) run += column[static_cast<size_t>(i) * kInner];
      total += run;
    }
  }
  sums[slice][threadIdx.x] = total;
  __syncthreads();
  if (slice == 0 && result < kResults) {
    for (int other = 1; other < kSlices; ++other) total += sums[other][threadIdx.x];
    output[result] = total;
  }
}
