/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "matmul", "grid": ["1 + (@{n} - 1 - (@{n} - 1) % (2 * @{BX})) / (2 * @{BX})", "1 + (@{m} - 1 - (@{m} - 1) % @{BY}) / @{BY}"],
            "block": [@{BX}, @{BY}], "args": ["@{a}", "@{b}", "output"]}]}
*/
// Two neighbouring results a thread, sums in float32.
#include <cuda_fp16.h>

constexpr int kM = @{m}, kN = @{n}, kK = @{k};

__global__ void matmul(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= kM || column >= kN) return;
  const bool both = column + 1 < kN;
  float even = 0.0f, odd = 0.0f;
  for (int k = 0; k < kK; ++k) {
    const float left = __half2float(a[static_cast<size_t>(row) * kK + k]);
    const __half* right = b + static_cast<size_t>(k) * kN + column;
    even += left * __half2float(right[0]);
    if (both) odd += left * __half2float(right[1]);
  }
  __half* to = c + static_cast<size_t>(row) * kN + column;
  to[0] = __float2half_rn(even);
  if (both) to[1] = __float2half_rn(odd);
}
