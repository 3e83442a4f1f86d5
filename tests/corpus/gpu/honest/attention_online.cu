/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "attention", "grid": [8, 32], "block": [64], "args": ["q", "k", "v", "output"]}]}
*/

#include <cuda_fp16.h>

// One thread a query, keys and values in tiles of 32, the sum rescaled whenever the maximum grows.
constexpr int kLength = 512, kWidth = 64, kTile = 32;

__global__ void __launch_bounds__(64) attention(const __half* q, const __half* k, const __half* v, __half* output) {
  __shared__ float keys[kTile][kWidth], values[kTile][kWidth];
  const size_t head = static_cast<size_t>(blockIdx.y) * kLength * kWidth;
  const int query = blockIdx.x * 64 + threadIdx.x;
  float mine[kWidth], sum[kWidth] = {};
#pragma unroll
  for (int d = 0; d < kWidth; ++d) mine[d] = __half2float(q[head + query * kWidth + d]) * 0.125f;
  float maximum = -1e30f, total = 0.0f;
  for (int first = 0; first < kLength; first += kTile) {
    __syncthreads();
    for (int i = threadIdx.x; i < kTile * kWidth; i += 64) {
      keys[i / kWidth][i % kWidth] = __half2float(k[head + first * kWidth + i]);
      values[i / kWidth][i % kWidth] = __half2float(v[head + first * kWidth + i]);
    }
    __syncthreads();
    for (int j = 0; j < kTile; ++j) {
      float score = 0.0f;
#pragma unroll
      for (int d = 0; d < kWidth; ++d) score = fmaf(mine[d], keys[j][d], score);
      const float larger = fmaxf(maximum, score), rescale = expf(maximum - larger), weight = expf(score - larger);
      maximum = larger;
      total = total * rescale + weight;
#pragma unroll
      for (int d = 0; d < kWidth; ++d) sum[d] = sum[d] * rescale + weight * values[j][d];
    }
  }
#pragma unroll
  for (int d = 0; d < kWidth; ++d) output[head + query * kWidth + d] = __float2half(sum[d] / total);
}
