/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "softmax_rows", "grid": [@{rows}], "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// One block a row; reductions by shuffles within warps, and once through shared memory across warps.

constexpr int kColumns = @{cols};
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;

__device__ __forceinline__ float warp_maximum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = other > value ? other : value;
  }
  return value;
}

__device__ __forceinline__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void softmax_rows(const float* __restrict__ input, float* __restrict__ output) {
  // Two arrays, so that the second reduction needs no barrier against readers of the first.
  __shared__ float maxima[kWarps];
  __shared__ float sums[kWarps];
  const int thread = threadIdx.x;
  const float* row = input + static_cast<size_t>(blockIdx.x) * kColumns;
  float* result = output + static_cast<size_t>(blockIdx.x) * kColumns;

  float maximum = -__int_as_float(0x7f800000);
  for (int column = thread; column < kColumns; column += kBlock) {
    const float value = row[column];
    maximum = value > maximum ? value : maximum;
  }
  maximum = warp_maximum(maximum);
  if (thread % 32 == 0) maxima[thread / 32] = maximum;
  __syncthreads();
  for (int warp = 0; warp < kWarps; ++warp) maximum = maxima[warp] > maximum ? maxima[warp] : maximum;

  float sum = 0.0f;
  for (int column = thread; column < kColumns; column += kBlock) sum += expf(row[column] - maximum);
  sum = warp_sum(sum);
  if (thread % 32 == 0) sums[thread / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int warp = 0; warp < kWarps; ++warp) sum += sums[warp];

  const float scale = 1.0f / sum;
  for (int column = thread; column < kColumns; column += kBlock) result[column] = expf(row[column] - maximum) * scale;
}
