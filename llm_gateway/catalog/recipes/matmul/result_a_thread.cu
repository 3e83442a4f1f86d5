/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "matmul",
            "grid": ["1 + (@{n} - 1 - (@{n} - 1) % @{BX}) / @{BX}", "1 + (@{m} - 1 - (@{m} - 1) % @{BY}) / @{BY}"],
            "block": [@{BX}, @{BY}], "args": ["@{a}", "@{b}", "output"]}]}
*/
// One thread for each element of the product.

constexpr int kM = @{m};
constexpr int kN = @{n};
constexpr int kK = @{k};

__global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= kM || column >= kN) return;
  float sum = 0.0f;
  for (int i = 0; i < kK; ++i) sum += a[static_cast<size_t>(row) * kK + i] * b[static_cast<size_t>(i) * kN + column];
  c[static_cast<size_t>(row) * kN + column] = sum;
}
