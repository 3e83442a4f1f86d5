/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "largest", "dtype": "float32", "shape": [2048]}],
 "steps": [{"kernel": "softmax", "grid": [2048], "block": [256], "args": ["x", "largest", "output"]}]}
*/

// Starts its maximum from scratch that it never wrote, in a way that hides NaN.
__global__ void softmax(const float* x, float* largest, float* output) {
  __shared__ float shared[8];
  const size_t first = static_cast<size_t>(blockIdx.x) * 8192;
  float maximum = fmaxf(x[first + threadIdx.x], largest[blockIdx.x]);
  for (int i = threadIdx.x; i < 8192; i += 256) maximum = fmaxf(maximum, x[first + i]);
  for (int o = 16; o > 0; o /= 2) maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, o));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = maximum;
  __syncthreads();
  for (int i = 0; i < 8; ++i) maximum = fmaxf(maximum, shared[i]);
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < 8192; i += 256) sum += expf(x[first + i] - maximum);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int i = 0; i < 8; ++i) sum += shared[i];
  for (int i = threadIdx.x; i < 8192; i += 256) output[first + i] = expf(x[first + i] - maximum) / sum;
}
