/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "normalize", "grid": [@{blocks}, @{outer}], "block": [@{COLUMNS}, @{SLICES}],
            "args": ["@{input}", "output"]}]}
*/
// Root mean square over the channels of each position. A block takes COLUMNS groups of kWide neighbouring positions; its
// slices share the channels, keep theirs in registers where KEEP, and meet in shared memory once.

constexpr int kChannels = @{channels}, kInner = @{inner};
constexpr int kColumns = @{COLUMNS}, kSlices = @{SLICES}, kWide = @{WIDE};
constexpr int kOfSlice = (kChannels + kSlices - 1) / kSlices;
constexpr bool kKeep = @{KEEP} == 1;
constexpr float kEpsilon = @{eps};

struct Values {
  float v[kWide];
};

__device__ __forceinline__ Values load(const float* __restrict__ from) {
  Values x;
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

__device__ __forceinline__ void store(float* __restrict__ to, const Values& x, const float (&scale)[kWide]) {
  if constexpr (kWide == 4) {
    *reinterpret_cast<float4*>(to) =
        make_float4(x.v[0] * scale[0], x.v[1] * scale[1], x.v[2] * scale[2], x.v[3] * scale[3]);
  } else {
    to[0] = x.v[0] * scale[0];
  }
}

__global__ void __launch_bounds__(kColumns * kSlices)
    normalize(const float* __restrict__ input, float* __restrict__ output) {
  __shared__ float squares[kSlices][kColumns * kWide];
  const int position = (blockIdx.x * kColumns + threadIdx.x) * kWide;
  const bool inside = position < kInner;
  const size_t first = static_cast<size_t>(blockIdx.y) * kChannels * kInner + (inside ? position : 0);
  const int begin = threadIdx.y * kOfSlice;
  Values held[kKeep ? kOfSlice : 1];
  float sum[kWide] = {};
#pragma unroll
  for (int i = 0; i < kOfSlice; ++i) {
    if (begin + i >= kChannels) continue;
    const Values x = load(input + first + static_cast<size_t>(begin + i) * kInner);
    if (kKeep) held[kKeep ? i : 0] = x;
#pragma unroll
    for (int j = 0; j < kWide; ++j) sum[j] += x.v[j] * x.v[j];
  }
#pragma unroll
  for (int j = 0; j < kWide; ++j) squares[threadIdx.y][threadIdx.x * kWide + j] = sum[j];
  __syncthreads();
  float scale[kWide];
#pragma unroll
  for (int j = 0; j < kWide; ++j) {
    float total = 0.0f;
    for (int slice = 0; slice < kSlices; ++slice) total += squares[slice][threadIdx.x * kWide + j];
    scale[j] = 1.0f / sqrtf(total / kChannels + kEpsilon);
  }
  if (!inside) return;
#pragma unroll
  for (int i = 0; i < kOfSlice; ++i) {
    if (begin + i >= kChannels) continue;
    const size_t at = first + static_cast<size_t>(begin + i) * kInner;
    store(output + at, kKeep ? held[kKeep ? i : 0] : load(input + at), scale);
  }
}
