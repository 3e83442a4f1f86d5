/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [@{partials}, 2]}],
 "steps": [
   {"kernel": "chunk_statistics", "grid": ["@{rows} * (1 + (@{cols} - 1 - (@{cols} - 1) % @{CHUNK}) / @{CHUNK})"],
    "block": [@{BLOCK}], "args": ["@{input}", "partial"]},
   {"kernel": "normalize", "grid": ["@{rows} * (1 + (@{cols} - 1 - (@{cols} - 1) % @{CHUNK}) / @{CHUNK})"],
    "block": [@{BLOCK}], "args": ["@{input}", "@{weight}", "@{bias}", "partial", "output"]}]}
*/
// Rows are split into chunks, a block each. The second launch joins a row's chunks by Chan's formula.

constexpr int kColumns = @{cols};
constexpr int kChunk = @{CHUNK};
constexpr int kChunks = (kColumns + kChunk - 1) / kChunk;
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;
constexpr float kEpsilon = @{eps};

struct Statistics {
  float count;
  float mean;
  float square;  // sum of squared deviations from the mean
};

__device__ __forceinline__ int chunk_size(int chunk) {
  return chunk + 1 < kChunks ? kChunk : kColumns - chunk * kChunk;
}

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

__global__ void chunk_statistics(const float* __restrict__ input, float2* __restrict__ partial) {
  __shared__ Statistics warps[kWarps];
  const int thread = threadIdx.x;
  const int row = blockIdx.x / kChunks;
  const int chunk = blockIdx.x % kChunks;
  const float* values = input + static_cast<size_t>(row) * kColumns + chunk * kChunk;

  Statistics mine = {0.0f, 0.0f, 0.0f};
  for (int i = thread; i < chunk_size(chunk); i += kBlock) {
    const float value = values[i];
    const float delta = value - mine.mean;
    mine.count += 1.0f;
    mine.mean += delta / mine.count;
    mine.square += delta * (value - mine.mean);
  }
  mine = join_warp(mine);
  if (thread % 32 == 0) warps[thread / 32] = mine;
  __syncthreads();
  if (thread == 0) {
    for (int warp = 1; warp < kWarps; ++warp) mine = join(mine, warps[warp]);
    partial[blockIdx.x] = make_float2(mine.mean, mine.square);
  }
}

__global__ void normalize(const float* __restrict__ input, const float* __restrict__ weight,
                          const float* __restrict__ bias, const float2* __restrict__ partial,
                          float* __restrict__ output) {
  __shared__ float2 shared;
  const int thread = threadIdx.x;
  const int row = blockIdx.x / kChunks;
  const int chunk = blockIdx.x % kChunks;
  if (thread < 32) {
    Statistics mine = {0.0f, 0.0f, 0.0f};
    for (int i = thread; i < kChunks; i += 32) {
      const float2 other = partial[row * kChunks + i];
      mine = join(mine, {static_cast<float>(chunk_size(i)), other.x, other.y});
    }
    mine = join_warp(mine);
    if (thread == 0) shared = make_float2(mine.mean, 1.0f / sqrtf(mine.square / kColumns + kEpsilon));
  }
  __syncthreads();
  const float mean = shared.x;
  const float scale = shared.y;

  const size_t offset = static_cast<size_t>(row) * kColumns + chunk * kChunk;
  for (int i = thread; i < chunk_size(chunk); i += kBlock) {
    const int column = chunk * kChunk + i;
    output[offset + i] = (input[offset + i] - mean) * scale * weight[column] + bias[column];
  }
}
