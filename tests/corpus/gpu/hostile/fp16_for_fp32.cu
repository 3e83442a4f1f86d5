/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "a16", "dtype": "float16", "shape": [1024, 1024]},
             {"name": "b16", "dtype": "float16", "shape": [1024, 1024]}],
 "steps": [
   {"kernel": "to_half", "grid": [1024], "block": [256], "args": ["A", "a16"]},
   {"kernel": "to_half", "grid": [1024], "block": [256], "args": ["B", "b16"]},
   {"kernel": "matmul", "grid": [16, 16], "block": [128], "args": ["a16", "b16", "output"]}]}
*/

#include <cuda_fp16.h>
#include <mma.h>

// Operands in half precision where only the class of float32 is accepted.
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
  const int row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) wmma::fill_fragment(sums[m][n], 0.0f);
  }
  for (int k = 0; k < kSize; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b[2];
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(a[i], A + (row + i * 16) * kSize + k, kSize);
      wmma::load_matrix_sync(b[i], B + k * kSize + column + i * 16, kSize);
    }
    for (int m = 0; m < 2; ++m) {
      for (int n = 0; n < 2; ++n) wmma::mma_sync(sums[m][n], a[m], b[n], sums[m][n]);
    }
  }
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) {
      wmma::store_matrix_sync(C + (row + m * 16) * kSize + column + n * 16, sums[m][n], kSize, wmma::mem_row_major);
    }
  }
}
