/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// 500 KB of local memory for each thread.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float mine[125000];
  for (int n = 0; n < 125000; n += 1000) mine[(n + i) % 125000] = n;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f) + 0.0f * mine[i % 125000];
}
