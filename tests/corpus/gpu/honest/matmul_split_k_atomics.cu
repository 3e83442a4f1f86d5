/* warpsmith-plan
{"version": 1,
 "steps": [{"memset": "output", "value": 0, "width": 4},
           {"kernel": "matmul", "grid": [32, 32, 4], "block": [32, 32], "args": ["A", "B", "output"]}]}
*/

// K in four parts, added by float atomics in whatever order they come: the last bits differ from run to run.
constexpr int kSize = 1024;

__global__ void matmul(const float* A, const float* B, float* C) {
  __shared__ float a[32][33], b[32][33];
  const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  const int first = blockIdx.z * (kSize / 4);
  float sum = 0.0f;
  for (int k = first; k < first + kSize / 4; k += 32) {
    a[threadIdx.y][threadIdx.x] = A[row * kSize + k + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * kSize + column];
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum = fmaf(a[threadIdx.y][i], b[i][threadIdx.x], sum);
    __syncthreads();
  }
  atomicAdd(C + row * kSize + column, sum);
}
