/* warpsmith-plan
{"version": 1,
 "steps": [{"memset": "output", "value": 0, "width": 4},
           {"kernel": "sum_parts", "grid": [8, 2048], "block": [256], "args": ["x", "output"]}]}
*/

// A memset, then float atomics by every warp.
__global__ void sum_parts(const float4* x, float* output) {
  const float4 v = x[static_cast<size_t>(blockIdx.y) * 2048 + blockIdx.x * 256 + threadIdx.x];
  float sum = (v.x + v.y) + (v.z + v.w);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x % 32 == 0) atomicAdd(output + blockIdx.y, sum);
}
