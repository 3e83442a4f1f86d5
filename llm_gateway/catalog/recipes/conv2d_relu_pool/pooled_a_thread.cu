/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "convolve_pool", "grid": ["1 + (@{output.numel} - 1 - (@{output.numel} - 1) % @{BLOCK}) / @{BLOCK}"], "block": [@{BLOCK}],
            "args": ["@{input}", "@{weight}", "@{bias}", "output"]}]}
*/
// A thread keeps the maximum of its window's convolutions; nothing is stored in between.

constexpr int kChannels = @{channels}, kHeight = @{height}, kWidth = @{width};
constexpr int kFilters = @{filters}, kKernelHeight = @{kernel_height}, kKernelWidth = @{kernel_width};
constexpr int kStride = @{stride}, kPadding = @{padding}, kPool = @{pool}, kPoolStride = @{pool_stride};
constexpr int kPooledHeight = @{pooled_height}, kPooledWidth = @{pooled_width};

__global__ void convolve_pool(const float* __restrict__ input, const float* __restrict__ weight,
                              const float* __restrict__ bias, float* __restrict__ output) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= @{output.numel}) return;
  const int px = index % kPooledWidth, py = index / kPooledWidth % kPooledHeight;
  const int filter = index / (kPooledWidth * kPooledHeight) % kFilters;
  const int image = index / (kPooledWidth * kPooledHeight * kFilters);
  const float* w = weight + static_cast<size_t>(filter) * (kChannels * kKernelHeight * kKernelWidth);
  float maximum = 0.0f;
  for (int window = 0; window < kPool * kPool; ++window) {
    const int top = (py * kPoolStride + window / kPool) * kStride - kPadding;
    const int left = (px * kPoolStride + window % kPool) * kStride - kPadding;
    float sum = 0.0f;
    for (int channel = 0; channel < kChannels; ++channel) {
      for (int ky = 0; ky < kKernelHeight; ++ky) {
        const int y = top + ky;
        if (y < 0 || y >= kHeight) continue;
        const float* row = input + ((static_cast<size_t>(image) * kChannels + channel) * kHeight + y) * kWidth;
        for (int kx = 0; kx < kKernelWidth; ++kx) {
          const int x = left + kx;
          if (x >= 0 && x < kWidth) sum += row[x] * w[(channel * kKernelHeight + ky) * kKernelWidth + kx];
        }
      }
    }
    maximum = window == 0 || sum > maximum ? sum : maximum;
  }
  const float result = maximum + bias[filter];
  output[index] = result > 0.0f ? result : 0.0f;
}
