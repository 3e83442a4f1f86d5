/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [@{partials}, 2]},
             {"name": "finished", "dtype": "float32", "shape": [@{rows}, 2]}],
 "steps": [
   {"kernel": "chunk_statistics", "grid": ["@{rows} * (@{cols} / @{CHUNK})"], "block": [@{BLOCK}],
    "args": ["@{input}", "partial"]},
   {"kernel": "row_statistics", "grid": [@{rows}], "block": [32], "args": ["partial", "finished"]},
   {"kernel": "normalize_rows",
    "grid": ["@{cols} / (4 * @{BLOCK} * @{WIDE})", "1 + (@{rows} - 1 - (@{rows} - 1) % @{ROWS}) / @{ROWS}"],
    "block": [@{BLOCK}], "args": ["@{input}", "@{weight}", "@{bias}", "finished", "output"]}]}
*/
// A block walks backwards over a group of rows with weight and bias in registers: the rows whose statistics were taken
// last are still in the L2 cache. The next row's vectors are requested before this row's arithmetic.

constexpr int kVectors = @{cols} / 4;
constexpr int kChunk = @{CHUNK} / 4;  // in vectors, as every size below
constexpr int kChunks = kVectors / kChunk;
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;
constexpr int kHeld = @{HELD};
constexpr float kEpsilon = @{eps};
constexpr int kRows = @{rows};
constexpr int kGroup = @{ROWS};  // rows of a block in the last launch
constexpr int kWide = @{WIDE};   // vectors of a row for each of its threads
static_assert(kVectors % (kBlock * kWide) == 0, "column groups must divide rows");
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

// x: group of columns; y: group of rows.
__global__ void __launch_bounds__(kBlock)
    normalize_rows(const float4* __restrict__ input, const float4* __restrict__ weight,
                   const float4* __restrict__ bias, const float2* __restrict__ finished, float4* __restrict__ output) {
  const int column = blockIdx.x * (kBlock * kWide) + threadIdx.x;
  const int first_row = (gridDim.y - 1 - blockIdx.y) * kGroup;
  const int end_row = first_row + kGroup < kRows ? first_row + kGroup : kRows;
  size_t offset = static_cast<size_t>(end_row - 1) * kVectors + column;
  float4 next[kWide];
  float4 w[kWide];
  float4 b[kWide];
#pragma unroll
  for (int i = 0; i < kWide; ++i) {
    next[i] = input[offset + i * kBlock];
    w[i] = weight[column + i * kBlock];
    b[i] = bias[column + i * kBlock];
  }
  for (int row = end_row - 1; row >= first_row; --row, offset -= kVectors) {
    const float2 found = finished[row];
    float4 x[kWide];
#pragma unroll
    for (int i = 0; i < kWide; ++i) x[i] = next[i];
    if (row > first_row) {
#pragma unroll
      for (int i = 0; i < kWide; ++i) next[i] = input[offset - kVectors + i * kBlock];
    }
#pragma unroll
    for (int i = 0; i < kWide; ++i) {
      output[offset + i * kBlock] = make_float4(
          (x[i].x - found.x) * found.y * w[i].x + b[i].x, (x[i].y - found.x) * found.y * w[i].y + b[i].y,
          (x[i].z - found.x) * found.y * w[i].z + b[i].z, (x[i].w - found.x) * found.y * w[i].w + b[i].w);
    }
  }
}
