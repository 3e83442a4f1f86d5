/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [@{rows}, @{PARTS}, 2]},
             {"name": "arrived", "dtype": "int32", "shape": [@{rows}]}],
 "steps": [
   {"memset": "arrived", "value": 0, "width": 4},
   {"kernel": "layer_norm", "grid": [@{PARTS}], "block": [@{BLOCK}], "cooperative": true,
    "shared_bytes": "16 * (@{cols} / (4 * @{PARTS}))",
    "args": ["@{input}", "@{weight}", "@{bias}", "partial", "arrived", "output"]}]}
*/
// The whole GPU holds one row at a time: PARTS blocks keep their part of it in registers, while the next row is on its
// way into shared memory by asynchronous copies. Statistics meet in scratch, where a counter a row tells when all are
// there. The input is read once. A thread reads only what it copied itself, so that no barrier guards the copies.

constexpr int kVectors = @{cols} / 4;
constexpr int kRows = @{rows};
constexpr int kParts = @{PARTS};
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;
constexpr int kPart = kVectors / kParts;  // vectors of a block
constexpr int kHeld = kPart / kBlock;
constexpr float kEpsilon = @{eps};
constexpr float kPartCount = 4.0f * kPart;
static_assert(kVectors % (kParts * kBlock) == 0, "threads must divide a row evenly");

struct Statistics {
  float count;
  float mean;
  float square;  // sum of squared deviations from the mean
};

__device__ __forceinline__ Statistics join(Statistics a, Statistics b) {
  const float total = a.count + b.count;
  if (b.count == 0.0f) return a;
  const float delta = b.mean - a.mean;
  const float share = b.count / total;
  return {total, a.mean + delta * share, a.square + b.square + delta * delta * a.count * share};
}

__device__ __forceinline__ Statistics join_warp(Statistics mine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const Statistics other = {__shfl_xor_sync(0xffffffffu, mine.count, offset),
                              __shfl_xor_sync(0xffffffffu, mine.mean, offset),
                              __shfl_xor_sync(0xffffffffu, mine.square, offset)};
    mine = join(mine, other);
  }
  return mine;
}

// Two passes over the thread's registers, around its first element.
__device__ __forceinline__ Statistics of_thread(const float4 (&x)[kHeld]) {
  const float first = x[0].x;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    sum = make_float4(sum.x + (x[i].x - first), sum.y + (x[i].y - first), sum.z + (x[i].z - first),
                      sum.w + (x[i].w - first));
  }
  const float mean = ((sum.x + sum.y) + (sum.z + sum.w)) * (0.25f / kHeld);
  float4 square = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const float4 d = make_float4(x[i].x - first - mean, x[i].y - first - mean, x[i].z - first - mean,
                                 x[i].w - first - mean);
    square = make_float4(square.x + d.x * d.x, square.y + d.y * d.y, square.z + d.z * d.z, square.w + d.w * d.w);
  }
  return {4.0f * kHeld, first + mean, (square.x + square.y) + (square.z + square.w)};
}

__device__ __forceinline__ void request(const float4* from, float4* to) {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to + i * kBlock))),
                 "l"(from + i * kBlock), "l"(policy)
                 : "memory");
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

__global__ void __launch_bounds__(kBlock, 1)
    layer_norm(const float4* __restrict__ input, const float4* __restrict__ weight, const float4* __restrict__ bias,
               float2* partial, int* arrived, float4* __restrict__ output) {
  extern __shared__ __align__(16) float4 next[];
  __shared__ Statistics warps[kWarps];
  __shared__ float2 of_row;
  const int thread = threadIdx.x;
  const int column = blockIdx.x * kPart + thread;
  request(input + column, next + thread);
  for (int row = 0; row < kRows; ++row) {
    float4 x[kHeld];
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < kHeld; ++i) x[i] = next[thread + i * kBlock];
    Statistics mine = of_thread(x);
    if (row + 1 < kRows) request(input + static_cast<size_t>(row + 1) * kVectors + column, next + thread);
    mine = join_warp(mine);
    if (thread % 32 == 0) warps[thread / 32] = mine;
    __syncthreads();
    if (thread < 32) {
      mine = thread < kWarps ? warps[thread] : Statistics{0.0f, 0.0f, 0.0f};
      mine = join_warp(mine);
      if (thread == 0) {
        __stcg(partial + row * kParts + blockIdx.x, make_float2(mine.mean, mine.square));
        __threadfence();
        atomicAdd(arrived + row, 1);
        while (*static_cast<volatile int*>(arrived + row) < kParts) {
        }
        __threadfence();
      }
      __syncwarp();
      Statistics all = {0.0f, 0.0f, 0.0f};
      for (int i = thread; i < kParts; i += 32) {
        const float2 other = __ldcg(partial + row * kParts + i);
        all = join(all, {kPartCount, other.x, other.y});
      }
      all = join_warp(all);
      if (thread == 0) of_row = make_float2(all.mean, 1.0f / sqrtf(all.square / (4.0f * kVectors) + kEpsilon));
    }
    __syncthreads();
    const float2 found = of_row;
    float4* to = output + static_cast<size_t>(row) * kVectors + column;
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const float4 w = __ldg(weight + column + i * kBlock), b = __ldg(bias + column + i * kBlock);
      __stcs(to + i * kBlock,
             make_float4((x[i].x - found.x) * found.y * w.x + b.x, (x[i].y - found.x) * found.y * w.y + b.y,
                         (x[i].z - found.x) * found.y * w.z + b.z, (x[i].w - found.x) * found.y * w.w + b.w));
    }
  }
}
