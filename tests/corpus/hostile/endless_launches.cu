/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"repeat": 100000, "steps": [{"kernel": "relu", "grid": [2147483647], "block": [1024], "args": ["x", "output"]}]}]}
*/

__global__ void relu(const float* x, float* output) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = x[i] < 0.0f ? 0.0f : x[i];
}
