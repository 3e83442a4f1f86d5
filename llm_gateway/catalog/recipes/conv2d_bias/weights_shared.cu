/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "convolve",
            "grid": ["1 + (@{pixels} - 1 - (@{pixels} - 1) % @{BLOCK}) / @{BLOCK}",
                     "1 + (@{filters} - 1 - (@{filters} - 1) % @{CHANNELS}) / @{CHANNELS}", @{batch}],
            "block": [@{BLOCK}], "args": ["@{input}", "@{weight}", "@{bias}", "output"]}]}
*/
// A group of output channels a block, its filters in shared memory; y: group, z: image.

constexpr int kChannels = @{channels};
constexpr int kHeight = @{height};
constexpr int kWidth = @{width};
constexpr int kFilters = @{filters};
constexpr int kFilterHeight = @{kernel_height};
constexpr int kFilterWidth = @{kernel_width};
constexpr int kOutHeight = @{out_height};
constexpr int kOutWidth = @{out_width};
constexpr int kStride = @{stride};
constexpr int kPadding = @{padding};
constexpr int kPatch = kChannels * kFilterHeight * kFilterWidth;
constexpr int kGroup = @{CHANNELS};

__global__ void __launch_bounds__(@{BLOCK})
    convolve(const float* __restrict__ input, const float* __restrict__ weight, const float* __restrict__ bias,
             float* __restrict__ output) {
  // The group's filters with the output channel innermost; channels past the last are zero and are not stored.
  __shared__ __align__(16) float values[kPatch][kGroup];
  const int first = blockIdx.y * kGroup;
  for (int i = threadIdx.x; i < kPatch * kGroup; i += @{BLOCK}) {
    const int channel = i / kPatch;
    values[i % kPatch][channel] =
        first + channel < kFilters ? weight[static_cast<size_t>(first + channel) * kPatch + i % kPatch] : 0.0f;
  }
  __syncthreads();
  const int pixel = blockIdx.x * @{BLOCK} + threadIdx.x;
  if (pixel >= kOutHeight * kOutWidth) return;
  const float* image = input + static_cast<size_t>(blockIdx.z) * kChannels * kHeight * kWidth;
  const int top = pixel / kOutWidth * kStride - kPadding;
  const int left = pixel % kOutWidth * kStride - kPadding;

  float sums[kGroup];
#pragma unroll
  for (int i = 0; i < kGroup; ++i) sums[i] = first + i < kFilters ? bias[first + i] : 0.0f;
  for (int channel = 0; channel < kChannels; ++channel) {
    for (int r = 0; r < kFilterHeight; ++r) {
      const int y = top + r;
      if (y < 0 || y >= kHeight) continue;
      const float* row = image + (channel * kHeight + y) * kWidth;
      const float(*row_values)[kGroup] = values + (channel * kFilterHeight + r) * kFilterWidth;
#pragma unroll
      for (int s = 0; s < kFilterWidth; ++s) {
        const int x = left + s;
        const float value = x >= 0 && x < kWidth ? row[x] : 0.0f;
#pragma unroll
        for (int i = 0; i < kGroup; ++i) sums[i] += value * row_values[s][i];
      }
    }
  }
  float* result = output + (static_cast<size_t>(blockIdx.z) * kFilters + first) * kOutHeight * kOutWidth + pixel;
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    if (first + i < kFilters) result[static_cast<size_t>(i) * kOutHeight * kOutWidth] = sums[i];
  }
}
