/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "softmax_rows", "grid": ["1 + (@{rows} - 1 - (@{rows} - 1) % @{WARPS}) / @{WARPS}"],
            "block": ["32 * @{WARPS}"], "args": ["@{input}", "output"]}]}
*/
// One warp a row: no shared memory, no barrier.

constexpr int kRows = @{rows};
constexpr int kColumns = @{cols};
constexpr int kWarps = @{WARPS};
constexpr int kGroup = @{GROUP};

// Minus infinity alone has no shift: exponentials of it are then zero, not NaN.
__device__ __forceinline__ float shift_of(float maximum) {
  return maximum == -__int_as_float(0x7f800000) ? 0.0f : maximum;
}

__global__ void softmax_rows(const float* __restrict__ input, float* __restrict__ output) {
  const int lane = threadIdx.x % 32;
  const int index = blockIdx.x * kWarps + threadIdx.x / 32;
  if (index >= kRows) return;  // the whole warp leaves together
  const float* row = input + static_cast<size_t>(index) * kColumns;
  float* result = output + static_cast<size_t>(index) * kColumns;
  const float lowest = -__int_as_float(0x7f800000);

  float maximum = lowest;
  float sum = 0.0f;
  for (int first = lane; first < kColumns; first += 32 * kGroup) {
    float values[kGroup];
    float next = maximum;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const int column = first + 32 * i;
      values[i] = column < kColumns ? row[column] : lowest;
      next = values[i] > next ? values[i] : next;
    }
    const float shift = shift_of(next);
    sum *= expf(maximum - shift);
#pragma unroll
    for (int i = 0; i < kGroup; ++i) sum += expf(values[i] - shift);
    maximum = next;
  }

  // The warp's maximum first, so that each lane rescales its sum once.
  float all = maximum;
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, all, offset);
    all = other > all ? other : all;
  }
  sum *= expf(maximum - shift_of(all));
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);

  const float scale = 1.0f / sum;
  for (int column = lane; column < kColumns; column += 32) result[column] = expf(row[column] - all) * scale;
}
