/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "convolve",
            "grid": ["1 + (@{pixels} - 1 - (@{pixels} - 1) % @{BLOCK}) / @{BLOCK}",
                     @{filters}, @{batch}],
            "block": [@{BLOCK}], "args": ["@{input}", "@{weight}", "@{bias}", "output"]}]}
*/
// One thread an output element; y: output channel, z: image.

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

__global__ void convolve(const float* __restrict__ input, const float* __restrict__ weight,
                         const float* __restrict__ bias, float* __restrict__ output) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= kOutHeight * kOutWidth) return;
  const int filter = blockIdx.y;
  const float* image = input + static_cast<size_t>(blockIdx.z) * kChannels * kHeight * kWidth;
  const float* values = weight + static_cast<size_t>(filter) * kPatch;
  const int top = pixel / kOutWidth * kStride - kPadding;
  const int left = pixel % kOutWidth * kStride - kPadding;

  float sum = bias[filter];
  for (int channel = 0; channel < kChannels; ++channel) {
    for (int r = 0; r < kFilterHeight; ++r) {
      for (int s = 0; s < kFilterWidth; ++s) {
        const int y = top + r;
        const int x = left + s;
        if (y >= 0 && y < kHeight && x >= 0 && x < kWidth) {
          sum += image[(channel * kHeight + y) * kWidth + x] * values[(channel * kFilterHeight + r) * kFilterWidth + s];
        }
      }
    }
  }
  output[(static_cast<size_t>(blockIdx.z) * kFilters + filter) * kOutHeight * kOutWidth + pixel] = sum;
}
