/* warpsmith-plan
{"version": 1, "scratch": [{"name": "maxima", "dtype": "float32", "shape": [37]}, {"name": "sums", "dtype": "float32", "shape": [37]}],
 "steps": [{"memset": "sums", "value": 0},
           {"kernel": "row_maximum", "grid": [37], "block": [32], "args": ["x", "maxima"]},
           {"kernel": "exponentials", "grid": [4, 37], "block": [256], "args": ["x", "maxima", "output", "sums"]},
           {"kernel": "divide", "grid": [4, 37], "block": [256], "args": ["output", "sums"]}]}
*/

__global__ void row_maximum(const float* x, float* maxima) {
  float maximum = x[blockIdx.x * 1003];
  for (int i = threadIdx.x; i < 1003; i += 32) maximum = fmaxf(maximum, x[blockIdx.x * 1003 + i]);
  for (int o = 16; o > 0; o /= 2) maximum = fmaxf(maximum, __shfl_down_sync(0xffffffffu, maximum, o));
  if (threadIdx.x == 0) maxima[blockIdx.x] = maximum;
}

// Sums by atomic additions: their order, and so the last bits, may differ from run to run.
__global__ void exponentials(const float* x, const float* maxima, float* output, float* sums) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int row = blockIdx.y;
  float value = 0.0f;
  if (i < 1003) {
    value = expf(x[row * 1003 + i] - maxima[row]);
    output[row * 1003 + i] = value;
  }
  for (int o = 16; o > 0; o /= 2) value += __shfl_down_sync(0xffffffffu, value, o);
  if (threadIdx.x % 32 == 0) atomicAdd(&sums[row], value);
}

__global__ void divide(float* output, const float* sums) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < 1003) output[blockIdx.y * 1003 + i] /= sums[blockIdx.y];
}
