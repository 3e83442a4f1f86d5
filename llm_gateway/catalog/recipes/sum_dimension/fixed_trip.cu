/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "sum_dimension",
            "grid": ["1 + (@{results} / 4 - 1 - (@{results} / 4 - 1) % @{COLUMNS}) / @{COLUMNS}"],
            "block": [@{COLUMNS}], "args": ["@{input}", "output"]}]}
*/
// Four neighbouring results a thread; runs divide the reduced dimension, so that no test is left inside a run.

constexpr int kReduced = @{reduced};
constexpr int kInner = @{inner} / 4;               // in float4, as every size below
constexpr long long kResults = @{results} / 4;
constexpr int kColumns = @{COLUMNS};
constexpr int kRun = @{RUN};
static_assert(kReduced % kRun == 0 && kRun % 2 == 0, "runs must divide the reduced dimension");

__device__ __forceinline__ float4 plus(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void __launch_bounds__(kColumns)
    sum_dimension(const float4* __restrict__ input, float4* __restrict__ output) {
  const long long result = static_cast<long long>(blockIdx.x) * kColumns + threadIdx.x;
  if (result >= kResults) return;
  const float4* row = input + result / kInner * kReduced * kInner + result % kInner;
  float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int run = 0; run < kReduced / kRun; ++run, row += static_cast<size_t>(kRun) * kInner) {
    float4 even = row[0];
    float4 odd = row[kInner];
#pragma unroll
    for (int i = 2; i < kRun; i += 2) {
      even = plus(even, row[static_cast<size_t>(i) * kInner]);
      odd = plus(odd, row[static_cast<size_t>(i + 1) * kInner]);
    }
    total = plus(total, plus(even, odd));
  }
  output[result] = total;
}
