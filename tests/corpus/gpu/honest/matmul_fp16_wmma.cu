/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "matmul", "grid": [32, 32], "block": [128], "args": ["A", "B", "output"]}]}
*/

#include <cuda_fp16.h>
#include <mma.h>

// Half precision in and out, sums in float32.
using namespace nvcuda;
constexpr int kSize = 1024;

__global__ void matmul(const __half* A, const __half* B, __half* C) {
  __shared__ __align__(32) float tiles[4][16 * 16];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * 32 + warp / 2 * 16, column = blockIdx.x * 32 + warp % 2 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < kSize; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::load_matrix_sync(a, A + row * kSize + k, kSize);
    wmma::load_matrix_sync(b, B + k * kSize + column, kSize);
    wmma::mma_sync(sum, a, b, sum);
  }
  wmma::store_matrix_sync(tiles[warp], sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) C[(row + i / 16) * kSize + column + i % 16] = __float2half(tiles[warp][i]);
}
