/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// A loop without end.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int go = 1;
  while (go) __threadfence();
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
}
