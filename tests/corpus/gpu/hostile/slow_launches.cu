/* warpsmith-plan
{"version": 1,
 "steps": [{"repeat": 1000, "index": "a", "steps": [{"repeat": 100, "steps": [
   {"kernel": "relu", "grid": [1], "block": [256], "args": ["x", "output"]}]}]}]}
*/

// As many launches as a plan may have, each of a hundred microseconds.
__global__ void relu(const float* x, float* output) {
  __nanosleep(100000);
  for (int i = threadIdx.x; i < 16 * 4099; i += 256) output[i] = fmaxf(x[i], 0.0f);
}
