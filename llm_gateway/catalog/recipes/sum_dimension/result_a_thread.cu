/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "sum_dimension", "grid": ["1 + (@{results} - 1 - (@{results} - 1) % @{BLOCK}) / @{BLOCK}"],
            "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// One thread a result; runs of 32 elements are summed before they are added to the total.

constexpr int kReduced = @{reduced};
constexpr int kInner = @{inner};
constexpr long long kResults = @{results};
constexpr int kRun = 32;

__global__ void sum_dimension(const float* __restrict__ input, float* __restrict__ output) {
  const long long result = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (result >= kResults) return;
  const float* column = input + result / kInner * kReduced * kInner + result % kInner;
  float total = 0.0f;
  for (int first = 0; first < kReduced; first += kRun) {
    const int end = first + kRun < kReduced ? first + kRun : kReduced;
    float run = 0.0f;
    for (int i = first; i < end; ++i) run += column[static_cast<size_t>(i) * kInner];
    total += run;
  }
  output[result] = total;
}
