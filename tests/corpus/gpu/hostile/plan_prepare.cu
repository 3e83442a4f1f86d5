/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "kept", "dtype": "float32", "shape": [65584], "persistent": true}],
 "prepare": [{"memset": "kept", "value": 0}],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Works ahead of time where frozen weights are not allowed.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
}
