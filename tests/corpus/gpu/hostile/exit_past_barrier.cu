/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// A thread leaves and the rest wait at a barrier: allowed on a GPU; what it should have loaded is missing.
__global__ void relu(const float* x, float* output) {
  __shared__ float tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = 0.0f;
  __syncthreads();
  if (threadIdx.x == 31 && blockIdx.x == 3) asm volatile("exit;");
  tile[threadIdx.x] = i < 16 * 4099 ? x[i] : 0.0f;
  __syncthreads();
  if (i < 16 * 4099) output[i] = fmaxf(tile[threadIdx.x], 0.0f);
}
