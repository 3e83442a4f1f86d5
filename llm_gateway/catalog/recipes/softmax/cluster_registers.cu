/* warpsmith-plan
{"version": 1, "min_arch": "sm_90", "scratch": [],
 "steps": [{"kernel": "softmax", "grid": ["@{rows} * @{CLUSTER}"], "block": [@{BLOCK}], "cluster": [@{CLUSTER}],
            "args": ["@{input}", "output"]}]}
*/
// A cluster of blocks a row, the row in their registers: one read and one write. Each block takes exponentials over its
// own maximum; maximum and sum cross the cluster once, and one factor an element corrects for the row's.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kVectors = @{cols} / 4;  // of a row
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;
constexpr int kCluster = @{CLUSTER};
constexpr int kHeld = (kVectors + kBlock * kCluster - 1) / (kBlock * kCluster);
constexpr bool kWhole = kVectors % (kBlock * kCluster) == 0;
#define kInfinity __int_as_float(0x7f800000)
constexpr float kLog2E = 1.44269504f;

__device__ __forceinline__ float scale_between(float from, float to) {
  return from == -kInfinity ? 0.0f : exp2f((from - to) * kLog2E);
}

__global__ void __launch_bounds__(kBlock) softmax(const float4* __restrict__ input, float4* __restrict__ output) {
  __shared__ float maxima[kWarps], sums[kWarps];
  __shared__ float2 of_block;
  cg::cluster_group cluster = cg::this_cluster();
  const int rank = blockIdx.x % kCluster;
  const size_t row = static_cast<size_t>(blockIdx.x / kCluster) * kVectors;
  const int first = rank * (kBlock * kHeld) + threadIdx.x;
  float4 held[kHeld];
  float maximum = -kInfinity;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int at = first + i * kBlock;
    held[i] = kWhole || at < kVectors ? __ldcs(input + row + at)
                                      : make_float4(-kInfinity, -kInfinity, -kInfinity, -kInfinity);
  }
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    maximum = fmaxf(maximum, fmaxf(fmaxf(held[i].x, held[i].y), fmaxf(held[i].z, held[i].w)));
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, offset));
  }
  if (threadIdx.x % 32 == 0) maxima[threadIdx.x / 32] = maximum;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kWarps; ++i) maximum = fmaxf(maximum, maxima[i]);
  const float base = maximum == -kInfinity ? 0.0f : maximum;
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    held[i] = make_float4(exp2f((held[i].x - base) * kLog2E), exp2f((held[i].y - base) * kLog2E),
                          exp2f((held[i].z - base) * kLog2E), exp2f((held[i].w - base) * kLog2E));
    sum += (held[i].x + held[i].y) + (held[i].z + held[i].w);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int i = 0; i < kWarps; ++i) total += sums[i];
    of_block = make_float2(maximum, total);
  }
  cluster.sync();
  float2 others[kCluster];
#pragma unroll
  for (int i = 0; i < kCluster; ++i) others[i] = *cluster.map_shared_rank(&of_block, i);
  float row_maximum = others[0].x;
#pragma unroll
  for (int i = 1; i < kCluster; ++i) row_maximum = fmaxf(row_maximum, others[i].x);
  float row_sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kCluster; ++i) row_sum += others[i].y * scale_between(others[i].x, row_maximum);
  const float factor = scale_between(maximum, row_maximum) / row_sum;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int at = first + i * kBlock;
    if (kWhole || at < kVectors) {
      __stcs(output + row + at,
             make_float4(held[i].x * factor, held[i].y * factor, held[i].z * factor, held[i].w * factor));
    }
  }
  cluster.sync();  // nobody leaves while others read its shared memory
}
