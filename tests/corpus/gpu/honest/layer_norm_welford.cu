/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [4, 16, 2]},
             {"name": "statistics", "dtype": "float32", "shape": [4, 2]}],
 "steps": [
   {"kernel": "part", "grid": [16, 4], "block": [256], "args": ["x", "partial"]},
   {"kernel": "join", "grid": [1], "block": [32], "args": ["partial", "statistics"]},
   {"kernel": "apply", "grid": [64, 4], "block": [256],
    "args": ["x", "norm.weight", "norm.bias", "statistics", "output"]}]}
*/

// Running means and squared deviations: as good far from zero as near it.
constexpr int kRow = 16 * 32 * 32, kPart = kRow / 16;

__device__ void merge(float& count, float& mean, float& squares, float count2, float mean2, float squares2) {
  const float all = count + count2, delta = mean2 - mean;
  mean += delta * (count2 / all);
  squares += squares2 + delta * delta * (count * count2 / all);
  count = all;
}

__global__ void part(const float* x, float* partial) {
  __shared__ float means[8], deviations[8];
  const float* mine = x + blockIdx.y * kRow + blockIdx.x * kPart;
  float count = 0.0f, mean = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < kPart; i += 256) {
    count += 1.0f;
    const float delta = mine[i] - mean;
    mean += delta / count;
    squares += delta * (mine[i] - mean);
  }
  for (int o = 16; o > 0; o /= 2) {
    const float mean2 = __shfl_xor_sync(0xffffffffu, mean, o), squares2 = __shfl_xor_sync(0xffffffffu, squares, o);
    merge(count, mean, squares, count, mean2, squares2);
  }
  if (threadIdx.x % 32 == 0) {
    means[threadIdx.x / 32] = mean;
    deviations[threadIdx.x / 32] = squares;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const float each = count;
    for (int i = 1; i < 8; ++i) merge(count, mean, squares, each, means[i], deviations[i]);
    partial[(blockIdx.y * 16 + blockIdx.x) * 2] = mean;
    partial[(blockIdx.y * 16 + blockIdx.x) * 2 + 1] = squares;
  }
}

__global__ void join(const float* partial, float* statistics) {
  if (threadIdx.x >= 4) return;
  const float* mine = partial + threadIdx.x * 32;
  float count = kPart, mean = mine[0], squares = mine[1];
  for (int i = 1; i < 16; ++i) merge(count, mean, squares, kPart, mine[2 * i], mine[2 * i + 1]);
  statistics[threadIdx.x * 2] = mean;
  statistics[threadIdx.x * 2 + 1] = 1.0f / sqrtf(squares / kRow + 1e-5f);
}

__global__ void apply(const float* x, const float* weight, const float* bias, const float* statistics, float* output) {
  const int column = blockIdx.x * 256 + threadIdx.x, i = blockIdx.y * kRow + column;
  output[i] = (x[i] - statistics[blockIdx.y * 2]) * statistics[blockIdx.y * 2 + 1] * weight[column] + bias[column];
}
