/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [@{partials}, 2]},
             {"name": "finished", "dtype": "float32", "shape": [@{rows}, 2]}],
 "steps": [
   {"kernel": "chunk_statistics", "grid": ["@{rows} * (@{cols} / @{CHUNK})"], "block": [@{BLOCK}],
    "args": ["@{input}", "partial"]},
   {"kernel": "row_statistics", "grid": [@{rows}], "block": [32], "args": ["partial", "finished"]},
   {"kernel": "normalize", "grid": ["@{rows} * (@{cols} / @{CHUNK})"],
    "block": [@{BLOCK}], "args": ["@{input}", "@{weight}", "@{bias}", "finished", "output"]}]}
*/
// Three launches: chunks, rows, result. Groups divide chunks and chunks divide rows, so that nothing is checked; the
// last launch has neither a barrier nor a division.

constexpr int kVectors = @{cols} / 4;
constexpr int kChunk = @{CHUNK} / 4;  // in vectors, as every size below
constexpr int kChunks = kVectors / kChunk;
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;
constexpr int kHeld = @{HELD};
constexpr float kEpsilon = @{eps};
static_assert(kVectors % kChunk == 0 && kChunk % (kBlock * kHeld) == 0, "groups must divide chunks, and chunks rows");

struct Statistics {
  float count;
  float mean;
  float square;  // sum of squared deviations from the mean
};

__device__ __forceinline__ Statistics join(Statistics a, Statistics b) {
  if (b.count == 0.0f) return a;
  const float total = a.count + b.count;
  const float delta = b.mean - a.mean;
  const float share = b.count / total;
  return {total, a.mean + delta * share, a.square + b.square + delta * delta * a.count * share};
}

__device__ __forceinline__ Statistics join_warp(Statistics mine) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const Statistics other = {__shfl_down_sync(0xffffffffu, mine.count, offset),
                              __shfl_down_sync(0xffffffffu, mine.mean, offset),
                              __shfl_down_sync(0xffffffffu, mine.square, offset)};
    mine = join(mine, other);
  }
  return mine;  // complete in lane 0
}

// Mean and squared deviations of kHeld vectors that stand a block's width apart.
__device__ __forceinline__ Statistics group_statistics(const float4* vectors) {
  // Differences from the first element: a group whose elements are all equal gets their exact mean.
  const float first = vectors[0].x;
  float4 held[kHeld];
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const float4 vector = vectors[i * kBlock];
    held[i] = make_float4(vector.x - first, vector.y - first, vector.z - first, vector.w - first);
    sum = make_float4(sum.x + held[i].x, sum.y + held[i].y, sum.z + held[i].z, sum.w + held[i].w);
  }
  const float mean = ((sum.x + sum.y) + (sum.z + sum.w)) * (0.25f / kHeld);
  float4 square = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const float4 delta = make_float4(held[i].x - mean, held[i].y - mean, held[i].z - mean, held[i].w - mean);
    square = make_float4(square.x + delta.x * delta.x, square.y + delta.y * delta.y, square.z + delta.z * delta.z,
                         square.w + delta.w * delta.w);
  }
  return {4.0f * kHeld, first + mean, (square.x + square.y) + (square.z + square.w)};
}

__global__ void __launch_bounds__(kBlock)
    chunk_statistics(const float4* __restrict__ input, float2* __restrict__ partial) {
  __shared__ Statistics warps[kWarps];
  const int thread = threadIdx.x;
  const float4* vectors = input + static_cast<size_t>(blockIdx.x) * kChunk + thread;
  Statistics mine = group_statistics(vectors);
  for (int first = kBlock * kHeld; first < kChunk; first += kBlock * kHeld) {
    mine = join(mine, group_statistics(vectors + first));
  }
  mine = join_warp(mine);
  if (kWarps > 1) {
    if (thread % 32 == 0) warps[thread / 32] = mine;
    __syncthreads();
  }
  if (thread == 0) {
    for (int warp = 1; warp < kWarps; ++warp) mine = join(mine, warps[warp]);
    partial[blockIdx.x] = make_float2(mine.mean, mine.square);
  }
}

// One warp a row: mean and reciprocal deviation from the row's chunks.
__global__ void row_statistics(const float2* __restrict__ partial, float2* __restrict__ finished) {
  const int lane = threadIdx.x;
  Statistics mine = {0.0f, 0.0f, 0.0f};
  for (int i = lane; i < kChunks; i += 32) {
    const float2 other = partial[static_cast<size_t>(blockIdx.x) * kChunks + i];
    mine = join(mine, {4.0f * kChunk, other.x, other.y});
  }
  mine = join_warp(mine);
  if (lane == 0) {
    finished[blockIdx.x] = make_float2(mine.mean, 1.0f / sqrtf(mine.square / (4.0f * kVectors) + kEpsilon));
  }
}

__global__ void __launch_bounds__(kBlock)
    normalize(const float4* __restrict__ input, const float4* __restrict__ weight, const float4* __restrict__ bias,
              const float2* __restrict__ finished, float4* __restrict__ output) {
  const float2 row = finished[blockIdx.x / kChunks];
  const int column = (blockIdx.x % kChunks) * kChunk + threadIdx.x;
  const size_t offset = static_cast<size_t>(blockIdx.x) * kChunk + threadIdx.x;
#pragma unroll 4
  for (int i = 0; i < kChunk; i += kBlock) {
    const float4 x = input[offset + i];
    const float4 w = weight[column + i];
    const float4 b = bias[column + i];
    output[offset + i] =
        make_float4((x.x - row.x) * row.y * w.x + b.x, (x.y - row.x) * row.y * w.y + b.y,
                    (x.z - row.x) * row.y * w.z + b.z, (x.w - row.x) * row.y * w.w + b.w);
  }
}
