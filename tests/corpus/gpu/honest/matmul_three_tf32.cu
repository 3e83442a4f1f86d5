/* warpsmith-plan
{"version": 1, "min_arch": "sm_80",
 "steps": [{"kernel": "matmul", "grid": [16, 16], "block": [128], "args": ["A", "B", "output"]}]}
*/

#include <mma.h>

// Float32's precision from tensor cores: each operand is split into two TF32 halves and three products are added.
// Tensor cores round sums towards zero, so each 32 of K start anew and are added by the CUDA cores.
using namespace nvcuda;
constexpr int kSize = 1024;

template <typename Fragment>
__device__ void split(const Fragment& whole, Fragment& large, Fragment& small) {
  for (int t = 0; t < whole.num_elements; ++t) {
    large.x[t] = wmma::__float_to_tf32(whole.x[t]);
    small.x[t] = wmma::__float_to_tf32(whole.x[t] - large.x[t]);
  }
}

__global__ void matmul(const float* A, const float* B, float* C) {
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sums[2][2], part[2][2];
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) {
      wmma::fill_fragment(sums[m][n], 0.0f);
      wmma::fill_fragment(part[m][n], 0.0f);
    }
  }
  for (int k = 0; k < kSize; k += 8) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a, a_large[2], a_small[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b, b_large[2], b_small[2];
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(a, A + (row + i * 16) * kSize + k, kSize);
      wmma::load_matrix_sync(b, B + k * kSize + column + i * 16, kSize);
      split(a, a_large[i], a_small[i]);
      split(b, b_large[i], b_small[i]);
    }
    for (int m = 0; m < 2; ++m) {
      for (int n = 0; n < 2; ++n) {
        wmma::mma_sync(part[m][n], a_small[m], b_large[n], part[m][n]);
        wmma::mma_sync(part[m][n], a_large[m], b_small[n], part[m][n]);
        wmma::mma_sync(part[m][n], a_large[m], b_large[n], part[m][n]);
      }
    }
    if (k % 32 == 24) {
      for (int m = 0; m < 2; ++m) {
        for (int n = 0; n < 2; ++n) {
          for (int t = 0; t < part[m][n].num_elements; ++t) sums[m][n].x[t] += part[m][n].x[t];
          wmma::fill_fragment(part[m][n], 0.0f);
        }
      }
    }
  }
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) {
      wmma::store_matrix_sync(C + (row + m * 16) * kSize + column + n * 16, sums[m][n], kSize, wmma::mem_row_major);
    }
  }
}
