/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "softmax", "grid": [37], "block": [32], "args": ["x", "output"]}], "options": ["--use_fast_math"]}
*/

// A warp a row of 1003 elements.
__global__ void softmax(const float* x, float* output) {
  const float* values_in = x + blockIdx.x * 1003;
  float* values = output + blockIdx.x * 1003;
  float maximum = values_in[0];
  for (int i = threadIdx.x; i < 1003; i += 32) maximum = fmaxf(maximum, values_in[i]);
  for (int o = 16; o > 0; o /= 2) maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, o));
  float sum = 0.0f;
  for (int i = threadIdx.x; i < 1003; i += 32) sum += expf(values_in[i] - maximum);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  for (int i = threadIdx.x; i < 1003; i += 32) values[i] = expf(values_in[i] - maximum) / sum;
}
