/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Half of each warp waits at another barrier than the rest, with counts that never fill.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 128) {
    asm volatile("barrier.sync 1, 256;" ::: "memory");
  } else {
    asm volatile("barrier.sync 2, 256;" ::: "memory");
  }
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
}
