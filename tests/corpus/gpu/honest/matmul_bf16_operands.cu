/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "matmul", "grid": [32, 32], "block": [128], "args": ["A", "B", "output"]}]}
*/

#include <cuda_bf16.h>
#include <mma.h>

// Operands rounded to bfloat16 on their way through shared memory, sums in float32.
using namespace nvcuda;
constexpr int kSize = 1024;

__global__ void matmul(const float* A, const float* B, float* C) {
  __shared__ __align__(32) __nv_bfloat16 a_tile[32][32], b_tile[32][32];
  const int warp = threadIdx.x / 32;
  const int first_row = blockIdx.y * 32, first_column = blockIdx.x * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < kSize; k += 32) {
    for (int i = threadIdx.x; i < 1024; i += 128) {
      a_tile[i / 32][i % 32] = __float2bfloat16(A[(first_row + i / 32) * kSize + k + i % 32]);
      b_tile[i / 32][i % 32] = __float2bfloat16(B[(k + i / 32) * kSize + first_column + i % 32]);
    }
    __syncthreads();
    for (int i = 0; i < 32; i += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b;
      wmma::load_matrix_sync(a, &a_tile[warp / 2 * 16][i], 32);
      wmma::load_matrix_sync(b, &b_tile[i][warp % 2 * 16], 32);
      wmma::mma_sync(sum, a, b, sum);
    }
    __syncthreads();
  }
  wmma::store_matrix_sync(C + (first_row + warp / 2 * 16) * kSize + first_column + warp % 2 * 16, sum, kSize,
                          wmma::mem_row_major);
}
