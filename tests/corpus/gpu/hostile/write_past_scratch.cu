/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "copy", "dtype": "float32", "shape": [65584]}],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output", "copy"]}]}
*/

// Writes past its own scratch.
__global__ void relu(const float* x, float* output, float* copy) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  copy[i] = 1.0f;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
}
