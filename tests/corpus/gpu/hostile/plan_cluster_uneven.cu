/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "cluster": [2], "args": ["x", "output"]}]}
*/

// A cluster that does not divide the grid.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
}
