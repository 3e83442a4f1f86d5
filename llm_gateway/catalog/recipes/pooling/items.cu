/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "pool", "grid": [@{blocks}], "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// A thread takes kItems neighbouring results of one row: what their windows share is loaded once. Sizes of dimensions that
// the problem lacks are 1.

constexpr int kDepth = @{depth}, kHeight = @{height}, kWidth = @{width};
constexpr int kOutDepth = @{out_depth}, kOutHeight = @{out_height}, kOutWidth = @{out_width};
constexpr int kSizeZ = @{size_z}, kSizeY = @{size_y}, kSizeX = @{kernel};
constexpr int kStrideZ = @{stride_z}, kStrideY = @{stride_y}, kStrideX = @{stride};
constexpr int kPadZ = @{pad_z}, kPadY = @{pad_y}, kPadX = @{padding};
constexpr int kDilation = @{dilation};
constexpr bool kMaximum = @{maximum} == 1;
constexpr long long kResults = @{output.numel};
constexpr int kItems = @{ITEMS}, kBlock = @{BLOCK};
constexpr bool kShare = @{SHARE} == 1;  // load the whole strip first, then take the windows out of registers
constexpr int kGroups = (kOutWidth + kItems - 1) / kItems;
constexpr int kStrip = (kItems - 1) * kStrideX + (kSizeX - 1) * kDilation + 1;
constexpr float kNothing = 0.0f;

__device__ __forceinline__ float lowest() { return -__int_as_float(0x7f800000); }

__global__ void __launch_bounds__(kBlock) pool(const float* __restrict__ input, float* __restrict__ output) {
  const long long index = static_cast<long long>(blockIdx.x) * kBlock + threadIdx.x;
  if (index >= kResults / kOutWidth * kGroups) return;
  const int x0 = static_cast<int>(index % kGroups) * kItems;
  const long long row = index / kGroups;
  const int y = static_cast<int>(row % kOutHeight), z = static_cast<int>(row / kOutHeight % kOutDepth);
  const float* plane = input + row / (static_cast<long long>(kOutHeight) * kOutDepth) * kDepth * kHeight * kWidth;
  float results[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) results[i] = kMaximum ? lowest() : kNothing;
  const int left = x0 * kStrideX - kPadX;
  for (int dz = 0; dz < kSizeZ; ++dz) {
    const int in_z = z * kStrideZ - kPadZ + dz * kDilation;
    if (in_z < 0 || in_z >= kDepth) continue;
    for (int dy = 0; dy < kSizeY; ++dy) {
      const int in_y = y * kStrideY - kPadY + dy * kDilation;
      if (in_y < 0 || in_y >= kHeight) continue;
      const float* from = plane + (static_cast<long long>(in_z) * kHeight + in_y) * kWidth;
      if constexpr (kShare) {
        float strip[kStrip];
#pragma unroll
        for (int i = 0; i < kStrip; ++i) {
          const int x = left + i;
          strip[i] = x >= 0 && x < kWidth ? from[x] : kMaximum ? lowest() : kNothing;
        }
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
#pragma unroll
          for (int dx = 0; dx < kSizeX; ++dx) {
            const float value = strip[i * kStrideX + dx * kDilation];
            results[i] = kMaximum ? fmaxf(results[i], value) : results[i] + value;
          }
        }
      } else {
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
#pragma unroll
          for (int dx = 0; dx < kSizeX; ++dx) {
            const int x = left + i * kStrideX + dx * kDilation;
            if (x < 0 || x >= kWidth) continue;
            results[i] = kMaximum ? fmaxf(results[i], from[x]) : results[i] + from[x];
          }
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (x0 + i < kOutWidth) {
      output[row * kOutWidth + x0 + i] = kMaximum ? results[i] : results[i] / (kSizeZ * kSizeY * kSizeX);
    }
  }
}
