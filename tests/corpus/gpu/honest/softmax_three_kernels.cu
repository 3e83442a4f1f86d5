/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "largest", "dtype": "float32", "shape": [2048, 8]},
             {"name": "sums", "dtype": "float32", "shape": [2048]}],
 "steps": [
   {"kernel": "row_maximum", "grid": [8, 2048], "block": [256], "args": ["x", "largest"]},
   {"memset": "sums", "value": 0, "width": 4},
   {"kernel": "row_sum", "grid": [8, 2048], "block": [256], "args": ["x", "largest", "sums"]},
   {"kernel": "scale", "grid": [8, 2048], "block": [256], "args": ["x", "largest", "sums", "output"]}]}
*/

// Three launches with scratch between them; the sums by float atomics.
constexpr int kColumns = 8192, kPart = 1024;

__device__ float all_maximum(const float* largest, int row) {
  float value = largest[row * 8];
  for (int i = 1; i < 8; ++i) value = fmaxf(value, largest[row * 8 + i]);
  return value;
}

__global__ void row_maximum(const float* x, float* largest) {
  __shared__ float shared[8];
  const float* part = x + static_cast<size_t>(blockIdx.y) * kColumns + blockIdx.x * kPart;
  float value = part[threadIdx.x];
  for (int i = threadIdx.x + 256; i < kPart; i += 256) value = fmaxf(value, part[i]);
  for (int o = 16; o > 0; o /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, o));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 8; ++i) value = fmaxf(value, shared[i]);
    largest[blockIdx.y * 8 + blockIdx.x] = value;
  }
}

__global__ void row_sum(const float* x, const float* largest, float* sums) {
  const float* part = x + static_cast<size_t>(blockIdx.y) * kColumns + blockIdx.x * kPart;
  const float maximum = all_maximum(largest, blockIdx.y);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < kPart; i += 256) sum += expf(part[i] - maximum);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x % 32 == 0) atomicAdd(sums + blockIdx.y, sum);
}

__global__ void scale(const float* x, const float* largest, const float* sums, float* output) {
  const size_t first = static_cast<size_t>(blockIdx.y) * kColumns + blockIdx.x * kPart;
  const float maximum = all_maximum(largest, blockIdx.y);
  const float factor = 1.0f / sums[blockIdx.y];
  for (int i = threadIdx.x; i < kPart; i += 256) output[first + i] = expf(x[first + i] - maximum) * factor;
}
