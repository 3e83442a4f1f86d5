/* warpsmith-plan
{"version": 1, "scratch": [{"name": "ticket", "dtype": "int32", "shape": [1]}, {"name": "sums", "dtype": "float32", "shape": [165, 2]}],
 "steps": [{"memset": "ticket", "value": 0},
           {"kernel": "sum_rows", "grid": [165], "block": [64], "args": ["x", "sums", "ticket", "output"]}]}
*/

// The block that draws the last ticket finishes all rows: right for every order of blocks.
__global__ void sum_rows(const float* x, float* sums, int* ticket, float* output) {
  __shared__ bool last;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < 517; i += 64) sum += x[blockIdx.x * 517 + i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (lane == 0) sums[blockIdx.x * 2 + warp] = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(ticket, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    volatile const float* all = sums;
    for (int row = threadIdx.x; row < 165; row += 64) output[row] = all[row * 2] + all[row * 2 + 1];
  }
}
