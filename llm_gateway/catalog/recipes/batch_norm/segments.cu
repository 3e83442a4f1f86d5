/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [@{segments}, @{chunks}, 2]},
             {"name": "finished", "dtype": "float32", "shape": [@{results}, 2]}],
 "steps": [
   {"kernel": "chunk_statistics", "grid": [@{chunks}, @{segments}], "block": [@{BLOCK}], "args": ["@{input}", "partial"]},
   {"kernel": "finish_statistics", "grid": [@{results}], "block": [32], "args": ["partial", "finished"]},
   {"kernel": "normalize", "grid": [@{chunks}, @{segments}], "block": [@{BLOCK}],
    "args": ["@{input}"@{?weight}, "@{weight}", "@{bias}"@{/weight}, "finished", "output"]}]}
*/
// Batch normalisation: a channel's statistics are those of its segments in all samples.
// Statistics of chunks in two passes over registers, joined by Chan's formula; then one warp for each mean and variance;
// then a stream. With REVERSE the stream walks backwards: what the statistics read last is still in the L2 cache.

constexpr int kLength = @{length};  // of a segment of contiguous elements
constexpr int kSegments = @{segments}, kChunks = @{chunks}, kResults = @{results};
constexpr int kChunk = @{CHUNK}, kBlock = @{BLOCK}, kWide = @{WIDE}, kHeld = @{HELD}, kWarps = kBlock / 32;
constexpr bool kReverse = @{REVERSE} == 1;
constexpr int kSpatial = @{spatial}, kChannels = @{channels};
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
    const Statistics other = {__shfl_xor_sync(0xffffffffu, mine.count, offset),
                              __shfl_xor_sync(0xffffffffu, mine.mean, offset),
                              __shfl_xor_sync(0xffffffffu, mine.square, offset)};
    mine = join(mine, other);
  }
  return mine;
}

template <int kCount>
struct Vector {
  float v[kCount];
};

__device__ __forceinline__ Vector<kWide> load(const float* __restrict__ from) {
  Vector<kWide> x;
  if constexpr (kWide == 4) {
    const float4 all = *reinterpret_cast<const float4*>(from);
    x.v[0] = all.x;
    x.v[1] = all.y;
    x.v[2] = all.z;
    x.v[3] = all.w;
  } else {
    x.v[0] = from[0];
  }
  return x;
}

__global__ void __launch_bounds__(kBlock)
    chunk_statistics(const float* __restrict__ input, float* __restrict__ partial) {
  __shared__ Statistics of_warps[kWarps];
  const int begin = blockIdx.x * kChunk, end = begin + kChunk < kLength ? begin + kChunk : kLength;
  const float* segment = input + static_cast<size_t>(blockIdx.y) * kLength;
  Statistics mine = {0.0f, 0.0f, 0.0f};
  for (int first = begin + threadIdx.x * kWide; first < end; first += kBlock * kWide * kHeld) {
    Vector<kWide> held[kHeld];
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const int at = first + i * kBlock * kWide;
      held[i] = load(segment + (at < end ? at : first));
    }
    // Differences from the first element: a group whose elements are all equal gets their exact mean.
    const float base = held[0].v[0];
    float sum[kWide] = {};
    int count = 0;
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      if (first + i * kBlock * kWide >= end) continue;
      count += kWide;
#pragma unroll
      for (int j = 0; j < kWide; ++j) sum[j] += held[i].v[j] - base;
    }
    float total = sum[0];
#pragma unroll
    for (int j = 1; j < kWide; ++j) total += sum[j];
    const float mean = total / count;
    float square[kWide] = {};
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      if (first + i * kBlock * kWide >= end) continue;
#pragma unroll
      for (int j = 0; j < kWide; ++j) {
        const float delta = (held[i].v[j] - base) - mean;
        square[j] += delta * delta;
      }
    }
    float squares = square[0];
#pragma unroll
    for (int j = 1; j < kWide; ++j) squares += square[j];
    mine = join(mine, {static_cast<float>(count), base + mean, squares});
  }
  mine = join_warp(mine);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < kWarps; ++warp) mine = join(mine, of_warps[warp]);
    float* to = partial + (static_cast<size_t>(blockIdx.y) * kChunks + blockIdx.x) * 2;
    to[0] = mine.mean;
    to[1] = mine.square;
  }
}

// One warp for each mean: result r takes the segments r, r + kResults, r + 2 kResults, ...
__global__ void finish_statistics(const float* __restrict__ partial, float* __restrict__ finished) {
  constexpr int kParts = kSegments / kResults * kChunks;
  Statistics mine = {0.0f, 0.0f, 0.0f};
  for (int i = threadIdx.x; i < kParts; i += 32) {
    const int segment = i / kChunks * kResults + blockIdx.x, chunk = i % kChunks;
    const float* from = partial + (static_cast<size_t>(segment) * kChunks + chunk) * 2;
    const int count = kLength - chunk * kChunk < kChunk ? kLength - chunk * kChunk : kChunk;
    mine = join(mine, {static_cast<float>(count), from[0], from[1]});
  }
  mine = join_warp(mine);
  if (threadIdx.x == 0) {
    finished[blockIdx.x * 2] = mine.mean;
    finished[blockIdx.x * 2 + 1] = 1.0f / sqrtf(mine.square / mine.count + kEpsilon);
  }
}

__global__ void __launch_bounds__(kBlock)
    normalize(const float* __restrict__ input@{?weight}, const float* __restrict__ weight, const float* __restrict__ bias@{/weight},
              const float* __restrict__ finished, float* __restrict__ output) {
  const int segment = kReverse ? kSegments - 1 - blockIdx.y : blockIdx.y;
  const int chunk = kReverse ? kChunks - 1 - blockIdx.x : blockIdx.x;
  const int begin = chunk * kChunk, end = begin + kChunk < kLength ? begin + kChunk : kLength;
  const size_t first_of_segment = static_cast<size_t>(segment) * kLength;
  const float mean = finished[segment % kResults * 2], scale = finished[segment % kResults * 2 + 1];
#pragma unroll 4
  for (int at = begin + threadIdx.x * kWide; at < end; at += kBlock * kWide) {
    Vector<kWide> x = load(input + first_of_segment + at);
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
@{?weight}      const int channel = static_cast<int>((first_of_segment + at + j) / kSpatial % kChannels);
      x.v[j] = (x.v[j] - mean) * scale * __ldg(weight + channel) + __ldg(bias + channel);
@{/weight}@{!weight}      x.v[j] = (x.v[j] - mean) * scale;
@{/weight}    }
    if constexpr (kWide == 4) {
      *reinterpret_cast<float4*>(output + first_of_segment + at) = make_float4(x.v[0], x.v[1], x.v[2], x.v[3]);
    } else {
      output[first_of_segment + at] = x.v[0];
    }
  }
}
