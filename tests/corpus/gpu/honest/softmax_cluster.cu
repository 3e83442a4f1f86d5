/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "steps": [{"kernel": "softmax", "grid": [8192], "block": [256], "cluster": [4], "args": ["x", "output"]}]}
*/

#include <cooperative_groups.h>

// A cluster of four blocks a row: partial maxima and sums are read from each other's shared memory.
namespace cg = cooperative_groups;

__device__ float block_reduce(float value, float* shared, bool maximum) {
  for (int o = 16; o > 0; o /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, o);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int i = 1; i < 8; ++i) value = maximum ? fmaxf(value, shared[i]) : value + shared[i];
  return value;
}

__global__ void __launch_bounds__(256) softmax(const float4* x, float4* output) {
  __shared__ float of_warps[2][8];
  __shared__ float of_block[2];
  cg::cluster_group cluster = cg::this_cluster();
  const size_t first = static_cast<size_t>(blockIdx.x / 4) * 2048 + cluster.block_rank() * 512 + threadIdx.x;
  float4 v[2] = {x[first], x[first + 256]};
  float maximum = fmaxf(fmaxf(fmaxf(v[0].x, v[0].y), fmaxf(v[0].z, v[0].w)),
                        fmaxf(fmaxf(v[1].x, v[1].y), fmaxf(v[1].z, v[1].w)));
  maximum = block_reduce(maximum, of_warps[0], true);
  if (threadIdx.x == 0) of_block[0] = maximum;
  cluster.sync();
  for (unsigned rank = 0; rank < 4; ++rank) maximum = fmaxf(maximum, *cluster.map_shared_rank(&of_block[0], rank));
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    v[i] = make_float4(expf(v[i].x - maximum), expf(v[i].y - maximum), expf(v[i].z - maximum), expf(v[i].w - maximum));
    sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
  }
  sum = block_reduce(sum, of_warps[1], false);
  if (threadIdx.x == 0) of_block[1] = sum;
  cluster.sync();
  sum = 0.0f;
  for (unsigned rank = 0; rank < 4; ++rank) sum += *cluster.map_shared_rank(&of_block[1], rank);
  cluster.sync();  // nobody leaves while others still read its shared memory
  const float factor = 1.0f / sum;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    output[first + i * 256] = make_float4(v[i].x * factor, v[i].y * factor, v[i].z * factor, v[i].w * factor);
  }
}
