/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [@{partials}, 2]}],
 "steps": [
   {"kernel": "chunk_statistics", "grid": ["@{rows} * (1 + (@{cols} - 1 - (@{cols} - 1) % @{CHUNK}) / @{CHUNK})"],
    "block": [@{BLOCK}], "args": ["@{input}", "partial"]},
   {"kernel": "normalize", "grid": ["@{rows} * (1 + (@{cols} - 1 - (@{cols} - 1) % @{CHUNK}) / @{CHUNK})"],
    "block": [@{BLOCK}], "args": ["@{input}", "@{weight}", "@{bias}", "partial", "output"]}]}
*/
// Rows are split into chunks, a block each; every access is a float4.

constexpr int kVectors = @{cols} / 4;
constexpr int kChunk = @{CHUNK} / 4;  // in vectors, as every size below
constexpr int kChunks = (kVectors + kChunk - 1) / kChunk;
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;
constexpr int kHeld = @{HELD};
constexpr float kEpsilon = @{eps};

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

__device__ __forceinline__ int chunk_size(int chunk) {
  return chunk + 1 < kChunks ? kChunk : kVectors - chunk * kChunk;
}

// Mean and squared deviations of `count` vectors that stand a block's width apart, at most kHeld.
__device__ __forceinline__ Statistics group_statistics(const float4* vectors, int count) {
  // Differences from the first element: a group whose elements are all equal gets their exact mean.
  const float first = vectors[0].x;
  float4 held[kHeld];
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    if (i < count) {
      const float4 vector = vectors[i * kBlock];
      held[i] = make_float4(vector.x - first, vector.y - first, vector.z - first, vector.w - first);
      sum = make_float4(sum.x + held[i].x, sum.y + held[i].y, sum.z + held[i].z, sum.w + held[i].w);
    }
  }
  const float elements = 4.0f * count;
  const float mean = ((sum.x + sum.y) + (sum.z + sum.w)) / elements;
  float4 square = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    if (i < count) {
      const float4 delta = make_float4(held[i].x - mean, held[i].y - mean, held[i].z - mean, held[i].w - mean);
      square = make_float4(square.x + delta.x * delta.x, square.y + delta.y * delta.y, square.z + delta.z * delta.z,
                           square.w + delta.w * delta.w);
    }
  }
  return {elements, first + mean, (square.x + square.y) + (square.z + square.w)};
}

__global__ void __launch_bounds__(kBlock)
    chunk_statistics(const float4* __restrict__ input, float2* __restrict__ partial) {
  __shared__ Statistics warps[kWarps];
  const int thread = threadIdx.x;
  const int row = blockIdx.x / kChunks;
  const int chunk = blockIdx.x % kChunks;
  const int size = chunk_size(chunk);
  const float4* vectors = input + static_cast<size_t>(row) * kVectors + chunk * kChunk;

  Statistics mine = {0.0f, 0.0f, 0.0f};
  for (int first = thread; first < size; first += kBlock * kHeld) {
    const int left = (size - first + kBlock - 1) / kBlock;
    // A constant count lets the compiler drop the checks of whole groups.
    mine =
        join(mine, left >= kHeld ? group_statistics(vectors + first, kHeld) : group_statistics(vectors + first, left));
  }
  mine = join_warp(mine);
  if (thread % 32 == 0) warps[thread / 32] = mine;
  __syncthreads();
  if (thread == 0) {
    for (int warp = 1; warp < kWarps; ++warp) mine = join(mine, warps[warp]);
    partial[blockIdx.x] = make_float2(mine.mean, mine.square);
  }
}

__global__ void __launch_bounds__(kBlock)
    normalize(const float4* __restrict__ input, const float4* __restrict__ weight, const float4* __restrict__ bias,
              const float2* __restrict__ partial, float4* __restrict__ output) {
  __shared__ float2 shared;
  const int thread = threadIdx.x;
  const int row = blockIdx.x / kChunks;
  const int chunk = blockIdx.x % kChunks;
  if (thread < 32) {
    Statistics mine = {0.0f, 0.0f, 0.0f};
    for (int i = thread; i < kChunks; i += 32) {
      const float2 other = partial[row * kChunks + i];
      mine = join(mine, {4.0f * chunk_size(i), other.x, other.y});
    }
    mine = join_warp(mine);
    if (thread == 0) shared = make_float2(mine.mean, 1.0f / sqrtf(mine.square / (4.0f * kVectors) + kEpsilon));
  }
  __syncthreads();
  const float mean = shared.x;
  const float scale = shared.y;

  const int size = chunk_size(chunk);
  const float4* vectors = input + static_cast<size_t>(row) * kVectors + chunk * kChunk;
  float4* results = output + static_cast<size_t>(row) * kVectors + chunk * kChunk;
  const float4* weights = weight + chunk * kChunk;
  const float4* biases = bias + chunk * kChunk;
#pragma unroll 4
  for (int i = thread; i < size; i += kBlock) {
    const float4 x = vectors[i];
    const float4 w = weights[i];
    const float4 b = biases[i];
    results[i] = make_float4((x.x - mean) * scale * w.x + b.x, (x.y - mean) * scale * w.y + b.y,
                             (x.z - mean) * scale * w.z + b.z, (x.w - mean) * scale * w.w + b.w);
  }
}
