/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "convolve",
            "grid": ["1 + (@{pixels} - 1 - (@{pixels} - 1) % @{BLOCK}) / @{BLOCK}",
                     "1 + (@{filters} - 1 - (@{filters} - 1) % @{CHANNELS}) / @{CHANNELS}", @{batch}],
            "block": [@{BLOCK}], "args": ["@{input}", "@{weight}", "@{bias}", "output"]}]}
*/
// One thread a pixel and a group of output channels; y: group, z: image.

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

__global__ void convolve(const float* __restrict__ input, const float* __restrict__ weight,
                         const float* __restrict__ bias, float* __restrict__ output) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= kOutHeight * kOutWidth) return;
  const int first = blockIdx.y * kGroup;
  const float* image = input + static_cast<size_t>(blockIdx.z) * kChannels * kHeight * kWidth;
  const int top = pixel / kOutWidth * kStride - kPadding;
  const int left = pixel % kOutWidth * kStride - kPadding;

  // Channels past the last repeat it; their sums are not stored.
  const float* values[kGroup];
  float sums[kGroup];
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const int filter = first + i < kFilters ? first + i : kFilters - 1;
    values[i] = weight + static_cast<size_t>(filter) * kPatch;
    sums[i] = bias[filter];
  }
  for (int channel = 0; channel < kChannels; ++channel) {
    for (int r = 0; r < kFilterHeight; ++r) {
      const int y = top + r;
      if (y < 0 || y >= kHeight) continue;
      for (int s = 0; s < kFilterWidth; ++s) {
        const int x = left + s;
        if (x < 0 || x >= kWidth) continue;
        const float value = image[(channel * kHeight + y) * kWidth + x];
        const int offset = (channel * kFilterHeight + r) * kFilterWidth + s;
#pragma unroll
        for (int i = 0; i < kGroup; ++i) sums[i] += value * values[i][offset];
      }
    }
  }
  float* result = output + (static_cast<size_t>(blockIdx.z) * kFilters + first) * kOutHeight * kOutWidth + pixel;
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    if (first + i < kFilters) result[static_cast<size_t>(i) * kOutHeight * kOutWidth] = sums[i];
  }
}
