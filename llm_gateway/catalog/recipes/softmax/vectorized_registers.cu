/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "softmax_rows", "grid": [@{rows}], "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// One block a row, the row in the block's registers: read once, written once, sixteen bytes at a time.

constexpr int kVectors = @{cols} / 4;
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;
constexpr int kHeld = (kVectors + kBlock - 1) / kBlock;

__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }

__global__ void __launch_bounds__(kBlock) softmax_rows(const float4* __restrict__ input, float4* __restrict__ output) {
  __shared__ float maxima[kWarps];
  __shared__ float sums[kWarps];
  const int thread = threadIdx.x;
  const float4* row = input + static_cast<size_t>(blockIdx.x) * kVectors;
  float4* result = output + static_cast<size_t>(blockIdx.x) * kVectors;
  const float lowest = -__int_as_float(0x7f800000);

  float4 held[kHeld];
  float maximum = lowest;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int vector = thread + i * kBlock;
    held[i] = vector < kVectors ? row[vector] : make_float4(lowest, lowest, lowest, lowest);
    maximum = larger(maximum, larger(larger(held[i].x, held[i].y), larger(held[i].z, held[i].w)));
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    maximum = larger(maximum, __shfl_xor_sync(0xffffffffu, maximum, offset));
  }
  if (thread % 32 == 0) maxima[thread / 32] = maximum;
  __syncthreads();
  for (int warp = 0; warp < kWarps; ++warp) maximum = larger(maximum, maxima[warp]);

  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    // Vectors past the end are left out: they add nothing.
    if (thread + i * kBlock < kVectors) {
      held[i].x = expf(held[i].x - maximum);
      held[i].y = expf(held[i].y - maximum);
      held[i].z = expf(held[i].z - maximum);
      held[i].w = expf(held[i].w - maximum);
      sum += (held[i].x + held[i].y) + (held[i].z + held[i].w);
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (thread % 32 == 0) sums[thread / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int warp = 0; warp < kWarps; ++warp) sum += sums[warp];

  const float scale = 1.0f / sum;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int vector = thread + i * kBlock;
    if (vector < kVectors) {
      result[vector] = make_float4(held[i].x * scale, held[i].y * scale, held[i].z * scale, held[i].w * scale);
    }
  }
}
