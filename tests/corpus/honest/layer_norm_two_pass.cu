/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "layer_norm", "grid": [4], "block": [128], "args": ["x", "norm.weight", "norm.bias", "output"]}]}
*/

__device__ float block_sum(float value) {
  __shared__ float shared[128];
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = shared[0];
  __syncthreads();
  return sum;
}

__global__ void layer_norm(const float* x, float* weight, const float* bias, float* output) {
  const float* row = x + blockIdx.x * 16384;
  // Sums of differences from one of the row's elements keep their digits where the mean is large.
  float sum = 0.0f;
  for (int i = threadIdx.x; i < 16384; i += 128) sum += row[i] - row[0];
  const float mean = row[0] + block_sum(sum) / 16384;
  sum = 0.0f;
  for (int i = threadIdx.x; i < 16384; i += 128) sum += (row[i] - mean) * (row[i] - mean);
  const float variance = block_sum(sum) / 16384;
  const float scale = 1.0f / sqrtf(variance + 1e-5f);
  for (int i = threadIdx.x; i < 16384; i += 128) {
    output[blockIdx.x * 16384 + i] = (row[i] - mean) * scale * weight[i] + bias[i];
  }
}
