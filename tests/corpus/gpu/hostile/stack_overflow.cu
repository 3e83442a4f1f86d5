/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Recursion without end.
__device__ __noinline__ float deeper(const float* x, int i, int depth) {
  volatile float mine[64];
  mine[i % 64] = x[i] + depth;
  const float below = depth < 100000000 ? deeper(x, (i + 1) % 4096, depth + 1) : 0.0f;
  return below + mine[i % 64];
}

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f) + 0.0f * deeper(x, i % 4096, 0);
}
