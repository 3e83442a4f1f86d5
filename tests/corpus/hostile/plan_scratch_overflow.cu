/* warpsmith-plan
{"version": 1, "scratch": [{"name": "work", "dtype": "float64", "shape": [4294967296, 4294967296]}],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = x[i] < 0.0f ? 0.0f : x[i];
}
