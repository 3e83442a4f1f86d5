/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "matmul", "grid": [6, 6], "block": [16, 16], "args": ["A", "B", "output"]}]}
*/

// Ten bits of mantissa, rounded to nearest, as tensor cores read float32.
__device__ float tf32(float value) { return __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u); }

__global__ void matmul(const float* A, const float* B, float* output) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  if (row >= 45 || column >= 83) return;
  float sum = 0.0f;
  for (int k = 0; k < 67; ++k) sum += tf32(A[row * 67 + k]) * tf32(B[k * 83 + column]);
  output[row * 83 + column] = sum;
}
