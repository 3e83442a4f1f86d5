/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Writes three elements past the output's end.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099 + 3) output[i] = i < 16 * 4099 ? fmaxf(x[i], 0.0f) : 0.0f;
}
