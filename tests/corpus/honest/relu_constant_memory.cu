/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

__constant__ float kSlopes[2] = {0.0f, 1.0f};

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = x[i] < 0.0f ? kSlopes[0] : kSlopes[1] * x[i];
}
