/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "attention", "grid": ["@{heads_in_all} * (1 + (@{queries} - 1 - (@{queries} - 1) % @{WARPS}) / @{WARPS})"],
            "block": ["@{WARPS} * 32"], "args": ["@{query}", "@{key}", "@{value}", "output"]}]}
*/
// A warp a query: its lanes share the dimensions, the sums are rescaled as the maximum grows.
#include <cuda_fp16.h>

// 1 / sqrt(value), by Newton's method.
__device__ constexpr float inverse_root(double value) {
  double guess = 1.0 / value;
  for (int i = 0; i < 40; ++i) guess *= 1.5 - 0.5 * value * guess * guess;
  return static_cast<float>(guess);
}

constexpr int kQueries = @{queries}, kKeys = @{keys}, kDimension = @{dimension};
constexpr int kWarps = @{WARPS}, kTogether = @{KEYS};
constexpr int kOfLane = (kDimension + 31) / 32;
constexpr int kGroups = (kQueries + kWarps - 1) / kWarps;
constexpr float kScale = 1.44269504f * inverse_root(kDimension);

__global__ void __launch_bounds__(kWarps * 32)
    attention(const __half* __restrict__ query, const __half* __restrict__ key, const __half* __restrict__ value,
              __half* __restrict__ output) {
  const int lane = threadIdx.x % 32;
  const int head = blockIdx.x / kGroups, at = blockIdx.x % kGroups * kWarps + threadIdx.x / 32;
  if (at >= kQueries) return;
  const __half* q = query + (static_cast<size_t>(head) * kQueries + at) * kDimension;
  const __half* k = key + static_cast<size_t>(head) * kKeys * kDimension;
  const __half* v = value + static_cast<size_t>(head) * kKeys * kDimension;
  float mine[kOfLane], sums[kOfLane];
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) {
    mine[i] = lane + i * 32 < kDimension ? __half2float(q[lane + i * 32]) : 0.0f;
    sums[i] = 0.0f;
  }
  float maximum = -__int_as_float(0x7f800000), sum = 0.0f;
  for (int first = 0; first < kKeys; first += kTogether) {
    float scores[kTogether];
    float highest = maximum;
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      float score = 0.0f;
      const int row = first + j < kKeys ? first + j : kKeys - 1;
#pragma unroll
      for (int i = 0; i < kOfLane; ++i) {
        if (lane + i * 32 < kDimension) score += mine[i] * __half2float(k[static_cast<size_t>(row) * kDimension + lane + i * 32]);
      }
      for (int offset = 16; offset > 0; offset /= 2) score += __shfl_xor_sync(0xffffffffu, score, offset);
      scores[j] = first + j < kKeys ? score : -__int_as_float(0x7f800000);
      highest = scores[j] > highest ? scores[j] : highest;
    }
    const float correction = exp2f((maximum - highest) * kScale);
    maximum = highest;
    sum *= correction;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) sums[i] *= correction;
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      const int row = first + j < kKeys ? first + j : kKeys - 1;
      const float weight = exp2f((scores[j] - highest) * kScale);
      sum += weight;
#pragma unroll
      for (int i = 0; i < kOfLane; ++i) {
        if (lane + i * 32 < kDimension) sums[i] += weight * __half2float(v[static_cast<size_t>(row) * kDimension + lane + i * 32]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) {
    if (lane + i * 32 < kDimension) {
      output[(static_cast<size_t>(head) * kQueries + at) * kDimension + lane + i * 32] = __float2half_rn(sums[i] / sum);
    }
  }
}
