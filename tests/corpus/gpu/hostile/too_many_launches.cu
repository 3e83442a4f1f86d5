/* warpsmith-plan
{"version": 1,
 "steps": [{"repeat": 1001, "steps": [{"repeat": 100, "steps": [
   {"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}]}]}
*/

// More launches than a plan may have.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
}
