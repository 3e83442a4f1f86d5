/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": ["5-sm_count-300"], "block": [256], "args": ["x", "output"]}]}
*/

// A grid of negative size.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
}
