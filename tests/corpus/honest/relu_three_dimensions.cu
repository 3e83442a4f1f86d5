/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu", "grid": [5, 4, 4], "block": [32, 8, 4], "args": ["x", "output"]}]}
*/

__global__ void relu(const float* x, float* output) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int step = gridDim.x * gridDim.y * gridDim.z * 1024;
  for (int i = block * 1024 + thread; i < 16 * 4099; i += step) output[i] = x[i] < 0.0f ? 0.0f : x[i];
}
