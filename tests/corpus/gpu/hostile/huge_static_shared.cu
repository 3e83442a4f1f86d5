/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Static shared memory beyond what any launch gets.
__global__ void relu(const float* x, float* output) {
  __shared__ float tile[100000];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x * 300] = i < 16 * 4099 ? x[i] : 0.0f;
  __syncthreads();
  if (i < 16 * 4099) output[i] = fmaxf(tile[threadIdx.x * 300], 0.0f);
}
