/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "matmul", "grid": [16, 16], "block": [16, 16], "args": ["A", "B", "output"]}]}
*/

// 64 x 64 a block, 4 x 4 a thread.
constexpr int kSize = 1024;

__global__ void __launch_bounds__(256) matmul(const float* A, const float* B, float* C) {
  __shared__ __align__(16) float a[16][64], b[16][64];
  const int thread = threadIdx.y * 16 + threadIdx.x;
  const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
  float sums[4][4] = {};
  for (int k = 0; k < kSize; k += 16) {
    const int row = thread / 4, quad = thread % 4 * 4;
    const float4 left = *reinterpret_cast<const float4*>(A + (first_row + row) * kSize + k + quad);
    a[quad][row] = left.x;
    a[quad + 1][row] = left.y;
    a[quad + 2][row] = left.z;
    a[quad + 3][row] = left.w;
    *reinterpret_cast<float4*>(&b[thread / 16][thread % 16 * 4]) =
        *reinterpret_cast<const float4*>(B + (k + thread / 16) * kSize + first_column + thread % 16 * 4);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const float4 left4 = *reinterpret_cast<const float4*>(&a[i][threadIdx.y * 4]);
      const float4 right4 = *reinterpret_cast<const float4*>(&b[i][threadIdx.x * 4]);
      const float l[4] = {left4.x, left4.y, left4.z, left4.w}, r[4] = {right4.x, right4.y, right4.z, right4.w};
#pragma unroll
      for (int m = 0; m < 4; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) sums[m][n] = fmaf(l[m], r[n], sums[m][n]);
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
