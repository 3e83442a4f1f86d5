/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "matmul", "grid": [6, 6], "block": [16, 16], "args": ["A", "B", "output"]}]}
*/

// Seven bits of mantissa, rounded to nearest.
__device__ float bf16(float value) { return __uint_as_float((__float_as_uint(value) + 0x8000u) & 0xffff0000u); }

__global__ void matmul(const float* A, const float* B, float* output) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  if (row >= 45 || column >= 83) return;
  float sum = 0.0f;
  for (int k = 0; k < 67; ++k) sum += bf16(A[row * 67 + k]) * bf16(B[k * 83 + column]);
  output[row * 83 + column] = sum;
}
