/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [65536], "block": [256], "cooperative": true, "args": ["x", "output"]}]}
*/

// A cooperative launch of more blocks than fit.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
}
