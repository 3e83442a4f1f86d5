/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "matmul", "grid": ["1 + (@{n} - 1 - (@{n} - 1) % @{BN}) / @{BN}", "1 + (@{m} - 1 - (@{m} - 1) % @{BM}) / @{BM}"],
            "block": ["(@{BM} / @{TM}) * (@{BN} / @{TN})"], "args": ["@{a}", "@{b}", "output"]}]}
*/
// Tiles become float32 on their way into shared memory; each thread keeps kRows x kColumns results.
#include <cuda_fp16.h>

constexpr int kM = @{m}, kN = @{n}, kK = @{k};
constexpr int kTileM = @{BM}, kTileN = @{BN}, kTileK = @{BK};
constexpr int kRows = @{TM}, kColumns = @{TN};
constexpr int kThreadsN = kTileN / kColumns;
constexpr int kThreads = kTileM / kRows * kThreadsN;

__global__ void __launch_bounds__(kThreads)
    matmul(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ c) {
  __shared__ float of_a[kTileK][kTileM + 1], of_b[kTileK][kTileN];
  const int tile_row = blockIdx.y * kTileM, tile_column = blockIdx.x * kTileN;
  const int my_row = threadIdx.x / kThreadsN * kRows, my_column = threadIdx.x % kThreadsN;
  float sums[kRows][kColumns] = {};
  for (int first = 0; first < kK; first += kTileK) {
    for (int i = threadIdx.x; i < kTileM * kTileK; i += kThreads) {
      const int row = i / kTileK, k = i % kTileK;
      const bool inside = tile_row + row < kM && first + k < kK;
      of_a[k][row] = inside ? __half2float(a[static_cast<size_t>(tile_row + row) * kK + first + k]) : 0.0f;
    }
    for (int i = threadIdx.x; i < kTileK * kTileN; i += kThreads) {
      const int k = i / kTileN, column = i % kTileN;
      const bool inside = first + k < kK && tile_column + column < kN;
      of_b[k][column] = inside ? __half2float(b[static_cast<size_t>(first + k) * kN + tile_column + column]) : 0.0f;
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kTileK; ++k) {
      float left[kRows], right[kColumns];
#pragma unroll
      for (int i = 0; i < kRows; ++i) left[i] = of_a[k][my_row + i];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) right[j] = of_b[k][my_column + j * kThreadsN];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) sums[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const int row = tile_row + my_row + i, column = tile_column + my_column + j * kThreadsN;
      if (row < kM && column < kN) c[static_cast<size_t>(row) * kN + column] = __float2half_rn(sums[i][j]);
    }
  }
}
