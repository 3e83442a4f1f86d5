/* warpsmith-plan
{"version": 1, "min_arch": "sm_80",
 "steps": [{"kernel": "matmul", "grid": [16, 16], "block": [16, 16], "shared_bytes": 18432,
            "args": ["A", "B", "output"]}]}
*/

#include <cuda_pipeline.h>

// Does not wait for its copies, and so multiplies what shared memory held before.
constexpr int kSize = 1024, kPitch = 20;

__global__ void __launch_bounds__(256) matmul(const float* A, const float* B, float* C) {
  extern __shared__ __align__(16) float memory[];
  float* a[2] = {memory, memory + 64 * kPitch};
  float* b[2] = {memory + 128 * kPitch, memory + 128 * kPitch + 16 * 64};
  const int thread = threadIdx.y * 16 + threadIdx.x;
  const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
  auto load = [&](int k, int stage) {
    const int row = thread / 4, quad = thread % 4 * 4;
    __pipeline_memcpy_async(a[stage] + row * kPitch + quad, A + (first_row + row) * kSize + k + quad, 16);
    __pipeline_memcpy_async(b[stage] + thread / 16 * 64 + thread % 16 * 4,
                            B + (k + thread / 16) * kSize + first_column + thread % 16 * 4, 16);
    __pipeline_commit();
  };
  float sums[4][4] = {};
  load(0, 0);
  for (int k = 0, stage = 0; k < kSize; k += 16, stage ^= 1) {
    if (k + 16 < kSize) load(k + 16, stage ^ 1);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      float left[4], right[4];
#pragma unroll
      for (int m = 0; m < 4; ++m) left[m] = a[stage][(threadIdx.y * 4 + m) * kPitch + i];
#pragma unroll
      for (int n = 0; n < 4; ++n) right[n] = b[stage][i * 64 + threadIdx.x * 4 + n];
#pragma unroll
      for (int m = 0; m < 4; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) sums[m][n] = fmaf(left[m], right[n], sums[m][n]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    *reinterpret_cast<float4*>(C + (first_row + threadIdx.y * 4 + m) * kSize + first_column + threadIdx.x * 4) =
        make_float4(sums[m][0], sums[m][1], sums[m][2], sums[m][3]);
  }
}
