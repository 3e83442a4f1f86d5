/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

__device__ __noinline__ float deep(volatile float* values, int depth) {
  volatile float here[64];
  here[depth % 64] = values[depth % 64];
  return deep(values, depth + 1) + here[depth % 64];
}

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) output[0] = deep(output, 0);
  if (i < 16 * 4099) output[i] = x[i] < 0.0f ? 0.0f : x[i];
}
