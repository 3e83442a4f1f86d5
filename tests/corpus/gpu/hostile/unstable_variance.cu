/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "statistics", "dtype": "float32", "shape": [4, 2]}],
 "steps": [
   {"kernel": "measure", "grid": [4], "block": [1024], "args": ["x", "statistics"]},
   {"kernel": "scale", "grid": [64, 4], "block": [256],
    "args": ["x", "norm.weight", "norm.bias", "statistics", "output"]}]}
*/

// The variance as the mean of squares minus the square of the mean, at mean 1000.
constexpr int kRow = 16 * 32 * 32;

__device__ float block_sum(float value, float* shared) {
  for (int o = 16; o > 0; o /= 2) value += __shfl_xor_sync(0xffffffffu, value, o);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0.0f;
  for (int i = 0; i < 32; ++i) value += shared[i];
  return value;
}

__global__ void measure(const float* x, float* statistics) {
  __shared__ float shared[32];
  const float* row = x + blockIdx.x * kRow;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < kRow; i += 1024) {
    sum += row[i];
    squares += row[i] * row[i];
  }
  const float mean = block_sum(sum, shared) / kRow;
  const float variance = block_sum(squares, shared) / kRow - mean * mean;
  if (threadIdx.x == 0) {
    statistics[blockIdx.x * 2] = mean;
    statistics[blockIdx.x * 2 + 1] = rsqrtf(fmaxf(variance, 0.0f) + 1e-5f);
  }
}

__global__ void scale(const float* x, const float* weight, const float* bias, const float* statistics, float* output) {
  const int column = blockIdx.x * 256 + threadIdx.x, i = blockIdx.y * kRow + column;
  output[i] = (x[i] - statistics[blockIdx.y * 2]) * statistics[blockIdx.y * 2 + 1] * weight[column] + bias[column];
}
