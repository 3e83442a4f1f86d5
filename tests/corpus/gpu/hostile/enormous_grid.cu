/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [2147483647, 65535], "block": [256], "args": ["x", "output"]}]}
*/

// As many blocks as a grid may have: years of them.
__global__ void relu(const float* x, float* output) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
}
