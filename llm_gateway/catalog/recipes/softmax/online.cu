/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "softmax_rows", "grid": [@{rows}], "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// One block a row. Maximum and sum in one walk: the running sum is rescaled when the running maximum grows.

constexpr int kColumns = @{cols};
constexpr int kBlock = @{BLOCK};
constexpr int kGroup = @{GROUP};
constexpr int kWarps = kBlock / 32;

struct Running {
  float maximum;
  float sum;
};

// Minus infinity alone has no shift: exponentials of it are then zero, not NaN.
__device__ __forceinline__ float shift_of(float maximum) {
  return maximum == -__int_as_float(0x7f800000) ? 0.0f : maximum;
}

__device__ __forceinline__ Running merge(Running a, Running b) {
  const float maximum = a.maximum > b.maximum ? a.maximum : b.maximum;
  const float shift = shift_of(maximum);
  return {maximum, a.sum * expf(a.maximum - shift) + b.sum * expf(b.maximum - shift)};
}

__global__ void softmax_rows(const float* __restrict__ input, float* __restrict__ output) {
  __shared__ Running warps[kWarps];
  const int thread = threadIdx.x;
  const float* row = input + static_cast<size_t>(blockIdx.x) * kColumns;
  float* result = output + static_cast<size_t>(blockIdx.x) * kColumns;
  const float lowest = -__int_as_float(0x7f800000);

  Running running = {lowest, 0.0f};
  for (int first = thread; first < kColumns; first += kBlock * kGroup) {
    float values[kGroup];
    float maximum = running.maximum;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const int column = first + i * kBlock;
      values[i] = column < kColumns ? row[column] : lowest;
      maximum = values[i] > maximum ? values[i] : maximum;
    }
    const float shift = shift_of(maximum);
    float sum = running.sum * expf(running.maximum - shift);
#pragma unroll
    for (int i = 0; i < kGroup; ++i) sum += expf(values[i] - shift);
    running = {maximum, sum};
  }

  for (int offset = 16; offset > 0; offset /= 2) {
    const Running other = {__shfl_xor_sync(0xffffffffu, running.maximum, offset),
                           __shfl_xor_sync(0xffffffffu, running.sum, offset)};
    running = merge(running, other);
  }
  if (thread % 32 == 0) warps[thread / 32] = running;
  __syncthreads();
  running = warps[0];
  for (int warp = 1; warp < kWarps; ++warp) running = merge(running, warps[warp]);

  const float scale = 1.0f / running.sum;
  for (int column = thread; column < kColumns; column += kBlock) {
    result[column] = expf(row[column] - running.maximum) * scale;
  }
}
