/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "matmul",
            "grid": ["1 + (@{n} - 1 - (@{n} - 1) % (@{BX} * @{TN})) / (@{BX} * @{TN})",
                     "1 + (@{m} - 1 - (@{m} - 1) % (@{BY} * @{TM})) / (@{BY} * @{TM})"],
            "block": [@{BX}, @{BY}], "args": ["@{a}", "@{b}", "output"]}]}
*/
// A tile of TM x TN results in each thread's registers, operands straight from the caches.

constexpr int kM = @{m};
constexpr int kN = @{n};
constexpr int kK = @{k};
constexpr int kRows = @{TM};
constexpr int kColumns = @{TN};

__global__ void __launch_bounds__(@{BX} * @{BY})
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  const int first_row = (blockIdx.y * @{BY} + threadIdx.y) * kRows;
  const int first_column = (blockIdx.x * @{BX} + threadIdx.x) * kColumns;
  if (first_row >= kM || first_column >= kN) return;

  // Rows and columns past the edge repeat the last one; their results are not stored.
  const float* rows[kRows];
  int columns[kColumns];
#pragma unroll
  for (int i = 0; i < kRows; ++i) rows[i] = a + static_cast<size_t>(first_row + i < kM ? first_row + i : kM - 1) * kK;
#pragma unroll
  for (int j = 0; j < kColumns; ++j) columns[j] = first_column + j < kN ? first_column + j : kN - 1;

  float sums[kRows][kColumns] = {};
  for (int k = 0; k < kK; ++k) {
    float left[kRows];
    float right[kColumns];
#pragma unroll
    for (int i = 0; i < kRows; ++i) left[i] = rows[i][k];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) right[j] = b[static_cast<size_t>(k) * kN + columns[j]];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) sums[i][j] += left[i] * right[j];
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (first_row + i < kM && first_column + j < kN) {
        c[static_cast<size_t>(first_row + i) * kN + first_column + j] = sums[i][j];
      }
    }
  }
}
