/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "batch_norm", "grid": [16], "block": [128], "args": ["x", "bn.weight", "bn.bias", "output"]}]}
*/

// A block a channel; 8 images of 256 pixels. Running statistics are left as they are.
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

__device__ int at(int channel, int i) { return (i / 256 * 16 + channel) * 256 + i % 256; }

__global__ void batch_norm(const float* x, const float* weight, const float* bias, float* output) {
  const int channel = blockIdx.x;
  const float first = x[at(channel, 0)];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < 2048; i += 128) sum += x[at(channel, i)] - first;
  const float mean = first + block_sum(sum) / 2048;
  sum = 0.0f;
  for (int i = threadIdx.x; i < 2048; i += 128) {
    const float delta = x[at(channel, i)] - mean;
    sum += delta * delta;
  }
  const float scale = weight[channel] / sqrtf(block_sum(sum) / 2048 + 1e-5f);
  for (int i = threadIdx.x; i < 2048; i += 128) {
    output[at(channel, i)] = (x[at(channel, i)] - mean) * scale + bias[channel];
  }
}
