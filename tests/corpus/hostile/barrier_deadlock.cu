/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // Thread 0 waits for a flag that the others raise only behind the barrier for which they wait for thread 0.
  __shared__ volatile int flag;
  if (threadIdx.x == 0) {
    flag = 0;
    while (flag == 0) {
    }
  }
  __syncthreads();
  flag = 1;
  if (i < 16 * 4099) output[i] = x[i] < 0.0f ? 0.0f : x[i];
}
