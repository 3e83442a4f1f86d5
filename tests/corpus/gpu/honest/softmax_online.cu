/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "softmax", "grid": [2048], "block": [256], "args": ["x", "output"]}]}
*/

// Maximum and sum in one pass: a running sum is rescaled whenever the maximum grows.
constexpr int kColumns = 8192;

__device__ void merge(float& maximum, float& sum, float other_maximum, float other_sum) {
  const float both = fmaxf(maximum, other_maximum);
  sum = sum * expf(maximum - both) + other_sum * expf(other_maximum - both);
  maximum = both;
}

__global__ void softmax(const float* x, float* output) {
  __shared__ float maxima[8], sums[8];
  const float* row = x + static_cast<size_t>(blockIdx.x) * kColumns;
  float* out = output + static_cast<size_t>(blockIdx.x) * kColumns;
  float maximum = row[threadIdx.x], sum = 1.0f;
  for (int i = threadIdx.x + 256; i < kColumns; i += 256) merge(maximum, sum, row[i], 1.0f);
  for (int o = 16; o > 0; o /= 2) {
    merge(maximum, sum, __shfl_xor_sync(0xffffffffu, maximum, o), __shfl_xor_sync(0xffffffffu, sum, o));
  }
  if (threadIdx.x % 32 == 0) {
    maxima[threadIdx.x / 32] = maximum;
    sums[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  maximum = maxima[0];
  sum = sums[0];
  for (int i = 1; i < 8; ++i) merge(maximum, sum, maxima[i], sums[i]);
  const float factor = 1.0f / sum;
  for (int i = threadIdx.x; i < kColumns; i += 256) out[i] = expf(row[i] - maximum) * factor;
}
