/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "a16", "dtype": "float16", "shape": [1024, 1024]},
             {"name": "b16", "dtype": "float16", "shape": [1024, 1024]}],
 "steps": [
   {"kernel": "to_half", "grid": [1024], "block": [256], "args": ["A", "a16"]},
   {"kernel": "to_half", "grid": [1024], "block": [256], "args": ["B", "b16"]},
   {"kernel": "matmul", "grid": [32, 32], "block": [128], "args": ["a16", "b16", "output"]}]}
*/

#include <cuda_fp16.h>
#include <mma.h>

// Half precision in operands and in the tensor cores' sums; each 32 of K are added up in float32.
using namespace nvcuda;
constexpr int kSize = 1024;

__global__ void to_half(const float4* from, __half2* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 v = from[i];
  to[2 * i] = __floats2half2_rn(v.x, v.y);
  to[2 * i + 1] = __floats2half2_rn(v.z, v.w);
}

__global__ void matmul(const __half* A, const __half* B, float* C) {
  const int warp = threadIdx.x / 32;
  __shared__ __align__(32) __half tiles[4][16 * 16];
  const int row = blockIdx.y * 32 + warp / 2 * 16, column = blockIdx.x * 32 + warp % 2 * 16, lane = threadIdx.x % 32;
  float sums[8] = {};
  for (int k = 0; k < kSize; k += 32) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> part;
    wmma::fill_fragment(part, __float2half(0.0f));
    for (int i = 0; i < 32; i += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
      wmma::load_matrix_sync(a, A + row * kSize + k + i, kSize);
      wmma::load_matrix_sync(b, B + (k + i) * kSize + column, kSize);
      wmma::mma_sync(part, a, b, part);
    }
    wmma::store_matrix_sync(tiles[warp], part, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = 0; i < 8; ++i) sums[i] += __half2float(tiles[warp][i * 32 + lane]);
    __syncwarp();
  }
  for (int i = 0; i < 8; ++i) {
    const int element = i * 32 + lane;
    C[(row + element / 16) * kSize + column + element % 16] = sums[i];
  }
}
