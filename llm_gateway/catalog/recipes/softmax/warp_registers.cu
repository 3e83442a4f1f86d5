/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "softmax_rows", "grid": ["1 + (@{rows} - 1 - (@{rows} - 1) % @{WARPS}) / @{WARPS}"],
            "block": ["32 * @{WARPS}"], "args": ["@{input}", "output"]}]}
*/
// One warp a row, the row in the warp's registers: one read, one exponential an element, one write.

constexpr int kRows = @{rows};
constexpr int kVectors = @{cols} / 4;
constexpr int kWarps = @{WARPS};
constexpr int kHeld = (kVectors + 31) / 32;
constexpr float kLog2E = 1.44269504f;

__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }

__global__ void __launch_bounds__(32 * kWarps)
    softmax_rows(const float4* __restrict__ input, float4* __restrict__ output) {
  const int lane = threadIdx.x % 32;
  const int index = blockIdx.x * kWarps + threadIdx.x / 32;
  if (index >= kRows) return;  // the whole warp leaves together
  const float4* row = input + static_cast<size_t>(index) * kVectors;
  float4* result = output + static_cast<size_t>(index) * kVectors;
  const float lowest = -__int_as_float(0x7f800000);

  float4 held[kHeld];
  float4 highest = make_float4(lowest, lowest, lowest, lowest);
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int vector = lane + 32 * i;
    held[i] = vector < kVectors ? row[vector] : make_float4(lowest, lowest, lowest, lowest);
    highest.x = larger(held[i].x, highest.x);
    highest.y = larger(held[i].y, highest.y);
    highest.z = larger(held[i].z, highest.z);
    highest.w = larger(held[i].w, highest.w);
  }
  float maximum = larger(larger(highest.x, highest.y), larger(highest.z, highest.w));
  for (int offset = 16; offset > 0; offset /= 2) {
    maximum = larger(maximum, __shfl_xor_sync(0xffffffffu, maximum, offset));
  }

  // The difference is taken before the change of base: it is exact near the maximum, however large the row's values.
  float4 sums = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    if (lane + 32 * i < kVectors) {
      held[i].x = exp2f((held[i].x - maximum) * kLog2E);
      held[i].y = exp2f((held[i].y - maximum) * kLog2E);
      held[i].z = exp2f((held[i].z - maximum) * kLog2E);
      held[i].w = exp2f((held[i].w - maximum) * kLog2E);
      sums.x += held[i].x;
      sums.y += held[i].y;
      sums.z += held[i].z;
      sums.w += held[i].w;
    }
  }
  float sum = (sums.x + sums.y) + (sums.z + sums.w);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);

  const float scale = 1.0f / sum;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int vector = lane + 32 * i;
    if (vector < kVectors) {
      result[vector] = make_float4(held[i].x * scale, held[i].y * scale, held[i].z * scale, held[i].w * scale);
    }
  }
}
