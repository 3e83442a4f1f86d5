/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "softmax_rows", "grid": ["1 + (@{rows} - 1 - (@{rows} - 1) % @{WARPS}) / @{WARPS}"],
            "block": ["32 * @{WARPS}"], "args": ["@{input}", "output"]}]}
*/
// One warp a row; the next group of vectors is on its way while this one is exponentiated.

constexpr int kRows = @{rows};
constexpr int kVectors = @{cols} / 4;
constexpr int kWarps = @{WARPS};
constexpr int kGroup = @{GROUP};
constexpr int kStep = 32 * kGroup;

__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }

// Minus infinity alone has no shift: exponentials of it are then zero, not NaN.
__device__ __forceinline__ float shift_of(float maximum) {
  return maximum == -__int_as_float(0x7f800000) ? 0.0f : maximum;
}

__device__ __forceinline__ void load(float4 (&group)[kGroup], const float4* row, int first) {
  const float lowest = -__int_as_float(0x7f800000);
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const int vector = first + 32 * i;
    group[i] = vector < kVectors ? row[vector] : make_float4(lowest, lowest, lowest, lowest);
  }
}

__global__ void softmax_rows(const float4* __restrict__ input, float4* __restrict__ output) {
  const int lane = threadIdx.x % 32;
  const int index = blockIdx.x * kWarps + threadIdx.x / 32;
  if (index >= kRows) return;  // the whole warp leaves together
  const float4* row = input + static_cast<size_t>(index) * kVectors;
  float4* result = output + static_cast<size_t>(index) * kVectors;

  float maximum = -__int_as_float(0x7f800000);
  float sum = 0.0f;
  float4 next[kGroup];
  load(next, row, lane);
  for (int first = lane; first < kVectors; first += kStep) {
    float4 group[kGroup];
#pragma unroll
    for (int i = 0; i < kGroup; ++i) group[i] = next[i];
    load(next, row, first + kStep);
    float highest = maximum;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      highest = larger(highest, larger(larger(group[i].x, group[i].y), larger(group[i].z, group[i].w)));
    }
    const float shift = shift_of(highest);
    sum *= expf(maximum - shift);
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      sum += (expf(group[i].x - shift) + expf(group[i].y - shift)) +
             (expf(group[i].z - shift) + expf(group[i].w - shift));
    }
    maximum = highest;
  }

  float all = maximum;
  for (int offset = 16; offset > 0; offset /= 2) all = larger(all, __shfl_xor_sync(0xffffffffu, all, offset));
  sum *= expf(maximum - shift_of(all));
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);

  const float scale = 1.0f / sum;
  load(next, row, lane);
  for (int first = lane; first < kVectors; first += kStep) {
    float4 group[kGroup];
#pragma unroll
    for (int i = 0; i < kGroup; ++i) group[i] = next[i];
    load(next, row, first + kStep);
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const int vector = first + 32 * i;
      if (vector < kVectors) {
        result[vector] = make_float4(expf(group[i].x - all) * scale, expf(group[i].y - all) * scale,
                                     expf(group[i].z - all) * scale, expf(group[i].w - all) * scale);
      }
    }
  }
}
