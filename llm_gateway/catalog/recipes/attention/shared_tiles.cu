/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "attention", "grid": ["@{heads_in_all} * (1 + (@{queries} - 1 - (@{queries} - 1) % @{BLOCK}) / @{BLOCK})"],
            "block": [@{BLOCK}], "args": ["@{query}", "@{key}", "@{value}", "output"]}]}
*/
// A thread a query, in registers; a tile of keys and values in shared memory, whose elements every thread wants at the
// same time.
#include <cuda_fp16.h>

// 1 / sqrt(value), by Newton's method.
__device__ constexpr float inverse_root(double value) {
  double guess = 1.0 / value;
  for (int i = 0; i < 40; ++i) guess *= 1.5 - 0.5 * value * guess * guess;
  return static_cast<float>(guess);
}

constexpr int kQueries = @{queries}, kKeys = @{keys}, kDimension = @{dimension};
constexpr int kBlock = @{BLOCK}, kTile = @{KEYS};
constexpr int kGroups = (kQueries + kBlock - 1) / kBlock;
constexpr float kScale = 1.44269504f * inverse_root(kDimension);

__global__ void __launch_bounds__(kBlock)
    attention(const __half* __restrict__ query, const __half* __restrict__ key, const __half* __restrict__ value,
              __half* __restrict__ output) {
  __shared__ float keys[kTile][kDimension], values[kTile][kDimension];
  const int head = blockIdx.x / kGroups, at = blockIdx.x % kGroups * kBlock + threadIdx.x;
  const __half* q = query + (static_cast<size_t>(head) * kQueries + (at < kQueries ? at : kQueries - 1)) * kDimension;
  const size_t base = static_cast<size_t>(head) * kKeys * kDimension;
  float mine[kDimension], sums[kDimension];
#pragma unroll
  for (int i = 0; i < kDimension; ++i) {
    mine[i] = __half2float(q[i]);
    sums[i] = 0.0f;
  }
  float maximum = -__int_as_float(0x7f800000), sum = 0.0f;
  for (int first = 0; first < kKeys; first += kTile) {
    __syncthreads();
    for (int i = threadIdx.x; i < kTile * kDimension; i += kBlock) {
      const bool inside = first + i / kDimension < kKeys;
      const size_t from = base + static_cast<size_t>(first) * kDimension + i;
      keys[i / kDimension][i % kDimension] = inside ? __half2float(key[from]) : 0.0f;
      values[i / kDimension][i % kDimension] = inside ? __half2float(value[from]) : 0.0f;
    }
    __syncthreads();
    const int count = kKeys - first < kTile ? kKeys - first : kTile;
    for (int j = 0; j < count; ++j) {
      float parts[4] = {};
#pragma unroll
      for (int i = 0; i < kDimension; ++i) parts[i % 4] += mine[i] * keys[j][i];
      const float score = (parts[0] + parts[1]) + (parts[2] + parts[3]);
      if (score > maximum) {  // seldom, once a few keys have been seen
        const float correction = exp2f((maximum - score) * kScale);
        maximum = score;
        sum *= correction;
#pragma unroll
        for (int i = 0; i < kDimension; ++i) sums[i] *= correction;
      }
      const float weight = exp2f((score - maximum) * kScale);
      sum += weight;
#pragma unroll
      for (int i = 0; i < kDimension; ++i) sums[i] += weight * values[j][i];
    }
  }
  if (at >= kQueries) return;
  __half* to = output + (static_cast<size_t>(head) * kQueries + at) * kDimension;
#pragma unroll
  for (int i = 0; i < kDimension; ++i) to[i] = __float2half_rn(sums[i] / sum);
}
