/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "matmul", "grid": [64, 64], "block": [16, 16], "args": ["A", "B", "output", {"i32": 1024}]}]}
*/

// One thread an element.
__global__ void matmul(const float* A, const float* B, float* C, int n) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum = fmaf(A[row * n + k], B[k * n + column], sum);
  C[row * n + column] = sum;
}
