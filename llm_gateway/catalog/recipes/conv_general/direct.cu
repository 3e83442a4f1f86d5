/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "convolve", "grid": [@{blocks}, @{filter_groups}, @{batch}], "block": [@{BLOCK}],
            "shared_bytes": @{shared}, "args": ["@{input}", "@{weight}"@{?bias}, "@{bias}"@{/bias}, "output"]}]}
*/
// Convolutions in one, two or three dimensions, grouped or not, forwards or transposed; sizes of dimensions that the
// problem lacks are 1. A block works on kFilters filters of one group and one image, a thread on kItems neighbouring
// pixels of each. With SHARED the block's filters lie in shared memory.

constexpr int kChannels = @{channels}, kAllFilters = @{filters}, kGroups = @{groups};
constexpr int kOfGroup = kChannels / kGroups, kFiltersOfGroup = kAllFilters / kGroups;
constexpr int kDepth = @{depth}, kHeight = @{height}, kWidth = @{width};
constexpr int kOutDepth = @{out_depth}, kOutHeight = @{out_height}, kOutWidth = @{out_width};
constexpr int kSizeZ = @{size_z}, kSizeY = @{size_y}, kSizeX = @{size_x}, kTaps = kSizeZ * kSizeY * kSizeX;
constexpr int kStrideZ = @{stride_z}, kStrideY = @{stride_y}, kStrideX = @{stride};
constexpr int kPadZ = @{pad_z}, kPadY = @{pad_y}, kPadX = @{padding}, kDilation = @{dilation};
constexpr bool kTransposed = @{transposed} == 1, kSharedFilters = @{SHARED} == 1;
constexpr int kItems = @{ITEMS}, kFilters = @{FILTERS}, kBlock = @{BLOCK};
constexpr int kStrips = (kOutWidth + kItems - 1) / kItems;

// The input's place under an output's and a tap; false outside.
__device__ __forceinline__ bool source(int out, int tap, int stride, int padding, int size, int& in) {
  if constexpr (kTransposed) {
    const int at = out + padding - tap * kDilation;
    in = at / stride;
    return at >= 0 && at % stride == 0 && in < size;
  } else {
    in = out * stride - padding + tap * kDilation;
    return in >= 0 && in < size;
  }
}

__global__ void __launch_bounds__(kBlock)
    convolve(const float* __restrict__ input, const float* __restrict__ weight@{?bias}, const float* __restrict__ bias@{/bias},
             float* __restrict__ output) {
  extern __shared__ __align__(16) float filters[];
  const int first_filter = blockIdx.y * kFilters, group = first_filter / kFiltersOfGroup;
  // Where the weight of a filter, a channel of the group and a tap stands.
  auto weight_at = [&](int f, int channel, int tap) {
    if (kTransposed) {
      return ((static_cast<size_t>(group) * kOfGroup + channel) * kFiltersOfGroup + first_filter % kFiltersOfGroup + f) *
                 kTaps + tap;
    }
    return ((static_cast<size_t>(first_filter) + f) * kOfGroup + channel) * kTaps + tap;
  };
  if (kSharedFilters) {
    for (int i = threadIdx.x; i < kFilters * kOfGroup * kTaps; i += kBlock) {
      filters[i] = weight[weight_at(i % kFilters, i / kFilters / kTaps, i / kFilters % kTaps)];
    }
    __syncthreads();
  }
  const long long strip = static_cast<long long>(blockIdx.x) * kBlock + threadIdx.x;
  if (strip >= static_cast<long long>(kOutDepth) * kOutHeight * kStrips) return;
  const int x0 = static_cast<int>(strip % kStrips) * kItems, y = static_cast<int>(strip / kStrips % kOutHeight);
  const int z = static_cast<int>(strip / kStrips / kOutHeight);
  const float* planes = input + (static_cast<size_t>(blockIdx.z) * kChannels + group * kOfGroup) *
                                    (static_cast<size_t>(kDepth) * kHeight * kWidth);
  float sums[kFilters][kItems] = {};
  for (int channel = 0; channel < kOfGroup; ++channel) {
    const float* plane = planes + static_cast<size_t>(channel) * kDepth * kHeight * kWidth;
    for (int tz = 0; tz < kSizeZ; ++tz) {
      int in_z;
      if (!source(z, tz, kStrideZ, kPadZ, kDepth, in_z)) continue;
      for (int ty = 0; ty < kSizeY; ++ty) {
        int in_y;
        if (!source(y, ty, kStrideY, kPadY, kHeight, in_y)) continue;
        const float* row = plane + (static_cast<size_t>(in_z) * kHeight + in_y) * kWidth;
#pragma unroll
        for (int tx = 0; tx < kSizeX; ++tx) {
          const int tap = (tz * kSizeY + ty) * kSizeX + tx;
          float w[kFilters];
#pragma unroll
          for (int f = 0; f < kFilters; ++f) {
            w[f] = kSharedFilters ? filters[(channel * kTaps + tap) * kFilters + f] : weight[weight_at(f, channel, tap)];
          }
#pragma unroll
          for (int i = 0; i < kItems; ++i) {
            int in_x;
            const float value = source(x0 + i, tx, kStrideX, kPadX, kWidth, in_x) ? row[in_x] : 0.0f;
#pragma unroll
            for (int f = 0; f < kFilters; ++f) sums[f][i] += value * w[f];
          }
        }
      }
    }
  }
#pragma unroll
  for (int f = 0; f < kFilters; ++f) {
    const int filter = first_filter + f;
    float* to = output + ((static_cast<size_t>(blockIdx.z) * kAllFilters + filter) * kOutDepth + z) *
                             (static_cast<size_t>(kOutHeight) * kOutWidth) + static_cast<size_t>(y) * kOutWidth + x0;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (x0 + i < kOutWidth) to[i] = sums[f][i]@{?bias} + bias[filter]@{/bias};
    }
  }
}
