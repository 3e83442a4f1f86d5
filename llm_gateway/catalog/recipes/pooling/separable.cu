/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "pool", "grid": [@{strips}, @{out_rows}], "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// Separable: a block reduces its rows' windows vertically, while loading, into one row in shared memory, and then takes
// the windows of that row. Every input element is loaded once for each row of results that it belongs to.

constexpr int kDepth = @{depth}, kHeight = @{height}, kWidth = @{width};
constexpr int kOutDepth = @{out_depth}, kOutHeight = @{out_height}, kOutWidth = @{out_width};
constexpr int kSizeZ = @{size_z}, kSizeY = @{size_y}, kSizeX = @{kernel};
constexpr int kStrideZ = @{stride_z}, kStrideY = @{stride_y}, kStrideX = @{stride};
constexpr int kPadZ = @{pad_z}, kPadY = @{pad_y}, kPadX = @{padding};
constexpr int kDilation = @{dilation};
constexpr bool kMaximum = @{maximum} == 1;
constexpr int kBlock = @{BLOCK}, kStrip = @{STRIP};  // results of a block
constexpr int kLoaded = (kStrip - 1) * kStrideX + (kSizeX - 1) * kDilation + 1;

__device__ __forceinline__ float nothing() { return kMaximum ? -__int_as_float(0x7f800000) : 0.0f; }
__device__ __forceinline__ float join(float a, float b) { return kMaximum ? fmaxf(a, b) : a + b; }

__global__ void __launch_bounds__(kBlock) pool(const float* __restrict__ input, float* __restrict__ output) {
  __shared__ float columns[kLoaded];
  const int row = blockIdx.y, x0 = blockIdx.x * kStrip;
  const int y = row % kOutHeight, z = row / kOutHeight % kOutDepth;
  const float* plane = input + static_cast<long long>(row / (kOutHeight * kOutDepth)) * kDepth * kHeight * kWidth;
  for (int i = threadIdx.x; i < kLoaded; i += kBlock) {
    const int x = x0 * kStrideX - kPadX + i;
    float result = nothing();
    if (x >= 0 && x < kWidth) {
#pragma unroll
      for (int dz = 0; dz < kSizeZ; ++dz) {
        const int in_z = z * kStrideZ - kPadZ + dz * kDilation;
        if (in_z < 0 || in_z >= kDepth) continue;
#pragma unroll
        for (int dy = 0; dy < kSizeY; ++dy) {
          const int in_y = y * kStrideY - kPadY + dy * kDilation;
          if (in_y < 0 || in_y >= kHeight) continue;
          result = join(result, plane[(static_cast<long long>(in_z) * kHeight + in_y) * kWidth + x]);
        }
      }
    }
    columns[i] = result;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kStrip && x0 + i < kOutWidth; i += kBlock) {
    float result = nothing();
#pragma unroll
    for (int dx = 0; dx < kSizeX; ++dx) result = join(result, columns[i * kStrideX + dx * kDilation]);
    output[static_cast<long long>(row) * kOutWidth + x0 + i] = kMaximum ? result : result / (kSizeZ * kSizeY * kSizeX);
  }
}
