/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "largest", "grid": [48], "block": [32], "args": ["x", "output0", "output1"]}]}
*/

// Writes the first of two outputs.
__global__ void largest(const float* x, float* values, long long* indexes) {
  const float* row = x + blockIdx.x * 256;
  float best = row[threadIdx.x];
  for (int i = threadIdx.x; i < 256; i += 32) best = fmaxf(best, row[i]);
  for (int o = 16; o > 0; o /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, o));
  if (threadIdx.x == 0) values[blockIdx.x] = best;
}
