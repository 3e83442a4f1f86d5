/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "sum_rows", "grid": ["1 + (@{results} - 1 - (@{results} - 1) % @{WARPS}) / @{WARPS}"],
            "block": ["32 * @{WARPS}"], "args": ["@{input}", "output"]}]}
*/
// The reduced dimension is contiguous: a warp a result, lanes on neighbouring elements.

constexpr int kReduced = @{reduced};
constexpr long long kResults = @{results};
constexpr int kWarps = @{WARPS};
constexpr int kUnroll = @{UNROLL};
constexpr int kStep = 32 * kUnroll;
constexpr int kRuns = 32;  // additions before an accumulator joins the total

__global__ void sum_rows(const float* __restrict__ input, float* __restrict__ output) {
  const int lane = threadIdx.x % 32;
  const long long result = static_cast<long long>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (result >= kResults) return;  // the whole warp leaves together
  const float* row = input + result * kReduced;
  float total = 0.0f;
  int first = lane;
  while (first < kReduced) {
    float run[kUnroll] = {};
    for (int step = 0; step < kRuns && first < kReduced; ++step, first += kStep) {
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) {
        if (first + 32 * i < kReduced) run[i] += row[first + 32 * i];
      }
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) total += run[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(0xffffffffu, total, offset);
  if (lane == 0) output[result] = total;
}
