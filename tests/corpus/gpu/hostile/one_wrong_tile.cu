/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "matmul", "grid": [32, 32], "block": [32, 32], "args": ["A", "B", "output"]}]}
*/

// One tile of 1024 leaves out the last thirty-second of its sums.
constexpr int kSize = 1024;

__global__ void matmul(const float* A, const float* B, float* C) {
  __shared__ float a[32][33], b[32][33];
  const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  const int last = blockIdx.x == 17 && blockIdx.y == 5 ? kSize - 32 : kSize;
  float sum = 0.0f;
  for (int k = 0; k < last; k += 32) {
    a[threadIdx.y][threadIdx.x] = A[row * kSize + k + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * kSize + column];
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum = fmaf(a[threadIdx.y][i], b[i][threadIdx.x], sum);
    __syncthreads();
  }
  C[row * kSize + column] = sum;
}
