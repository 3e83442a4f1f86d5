/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "sum_rows", "grid": [2048], "block": [256], "args": ["x", "output"]}]}
*/

// A block a row, 16-byte loads, shuffles.
__global__ void sum_rows(const float4* x, float* output) {
  __shared__ float shared[8];
  const float4* row = x + static_cast<size_t>(blockIdx.x) * 2048;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < 2048; i += 256) {
    const float4 v = row[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 8; ++i) sum += shared[i];
    output[blockIdx.x] = sum;
  }
}
