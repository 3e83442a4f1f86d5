/* warpsmith-plan
{"version": 1, "min_arch": "sm_80",
 "steps": [{"kernel": "matmul", "grid": [16, 16], "block": [128], "args": ["A", "B", "output"]}]}
*/

#include <mma.h>

// Tensor cores at TF32: a warp has 32 x 32 of a block's 64 x 64.
using namespace nvcuda;
constexpr int kSize = 1024;

__global__ void matmul(const float* A, const float* B, float* C) {
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sums[2][2];
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) wmma::fill_fragment(sums[m][n], 0.0f);
  }
  for (int k = 0; k < kSize; k += 8) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b[2];
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(a[i], A + (row + i * 16) * kSize + k, kSize);
      wmma::load_matrix_sync(b[i], B + k * kSize + column + i * 16, kSize);
      for (int t = 0; t < a[i].num_elements; ++t) a[i].x[t] = wmma::__float_to_tf32(a[i].x[t]);
      for (int t = 0; t < b[i].num_elements; ++t) b[i].x[t] = wmma::__float_to_tf32(b[i].x[t]);
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
