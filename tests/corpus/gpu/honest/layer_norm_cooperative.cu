/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [128, 3]}],
 "steps": [{"kernel": "layer_norm", "grid": [128], "block": [512], "cooperative": true,
            "args": ["x", "norm.weight", "norm.bias", "partial", "output"]}]}
*/

#include <cooperative_groups.h>

// Sixteen blocks a row, one launch: the blocks meet at a barrier over the grid between statistics and output.
namespace cg = cooperative_groups;
constexpr int kRow = 32 * 128 * 128, kPart = kRow / 16;

struct Statistics {
  float count, mean, squares;
};

__device__ Statistics merge(Statistics a, Statistics b) {
  const float count = a.count + b.count;
  if (count == 0.0f) return a;
  const float delta = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
}

__global__ void __launch_bounds__(512)
    layer_norm(const float* x, const float* weight, const float* bias, float* partial, float* output) {
  __shared__ Statistics shared[16];
  const int row = blockIdx.x / 16, part = blockIdx.x % 16;
  const size_t first = static_cast<size_t>(row) * kRow + part * kPart;
  Statistics mine = {0.0f, 0.0f, 0.0f};
  for (int i = threadIdx.x; i < kPart; i += 512) {
    const float value = x[first + i];
    mine.count += 1.0f;
    const float delta = value - mine.mean;
    mine.mean += delta / mine.count;
    mine.squares += delta * (value - mine.mean);
  }
  for (int o = 16; o > 0; o /= 2) {
    mine = merge(mine, {__shfl_xor_sync(0xffffffffu, mine.count, o), __shfl_xor_sync(0xffffffffu, mine.mean, o),
                        __shfl_xor_sync(0xffffffffu, mine.squares, o)});
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 16; ++i) mine = merge(mine, shared[i]);
    partial[blockIdx.x * 3] = mine.count;
    partial[blockIdx.x * 3 + 1] = mine.mean;
    partial[blockIdx.x * 3 + 2] = mine.squares;
  }
  cg::this_grid().sync();
  Statistics all = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < 16; ++i) {
    const float* other = partial + (row * 16 + i) * 3;
    all = merge(all, {other[0], other[1], other[2]});
  }
  const float scale = rsqrtf(all.squares / all.count + 1e-5f);
  for (int i = threadIdx.x; i < kPart; i += 512) {
    const int column = part * kPart + i;
    output[first + i] = (x[first + i] - all.mean) * scale * weight[column] + bias[column];
  }
}
