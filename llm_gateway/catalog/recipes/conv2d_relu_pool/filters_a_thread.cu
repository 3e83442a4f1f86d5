/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "convolve_pool", "grid": ["1 + (@{output.numel} / @{FILTERS} - 1 - (@{output.numel} / @{FILTERS} - 1) % @{BLOCK}) / @{BLOCK}"], "block": [@{BLOCK}],
            "args": ["@{input}", "@{weight}", "@{bias}", "output"]}]}
*/
// A thread's kTogether filters share each input element and its checks.

constexpr int kChannels = @{channels}, kHeight = @{height}, kWidth = @{width};
constexpr int kFilters = @{filters}, kKernelHeight = @{kernel_height}, kKernelWidth = @{kernel_width};
constexpr int kStride = @{stride}, kPadding = @{padding}, kPool = @{pool}, kPoolStride = @{pool_stride};
constexpr int kPooledHeight = @{pooled_height}, kPooledWidth = @{pooled_width};
constexpr int kTaps = kChannels * kKernelHeight * kKernelWidth;
constexpr int kTogether = @{FILTERS};

__global__ void convolve_pool(const float* __restrict__ input, const float* __restrict__ weight,
                              const float* __restrict__ bias, float* __restrict__ output) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= @{output.numel} / kTogether) return;
  const int px = index % kPooledWidth, py = index / kPooledWidth % kPooledHeight;
  const int filter = index / (kPooledWidth * kPooledHeight) % (kFilters / kTogether) * kTogether;
  const int image = index / (kPooledWidth * kPooledHeight * (kFilters / kTogether));
  const float* w = weight + static_cast<size_t>(filter) * kTaps;
  float maxima[kTogether];
  for (int window = 0; window < kPool * kPool; ++window) {
    const int top = (py * kPoolStride + window / kPool) * kStride - kPadding;
    const int left = (px * kPoolStride + window % kPool) * kStride - kPadding;
    float sums[kTogether] = {};
    for (int channel = 0; channel < kChannels; ++channel) {
      for (int ky = 0; ky < kKernelHeight; ++ky) {
        const int y = top + ky;
        if (y < 0 || y >= kHeight) continue;
        const float* row = input + ((static_cast<size_t>(image) * kChannels + channel) * kHeight + y) * kWidth;
        for (int kx = 0; kx < kKernelWidth; ++kx) {
          const int x = left + kx;
          if (x < 0 || x >= kWidth) continue;
          const float value = row[x];
          const int tap = (channel * kKernelHeight + ky) * kKernelWidth + kx;
#pragma unroll
          for (int i = 0; i < kTogether; ++i) sums[i] += value * w[i * kTaps + tap];
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) maxima[i] = window == 0 || sums[i] > maxima[i] ? sums[i] : maxima[i];
  }
#pragma unroll
  for (int i = 0; i < kTogether; ++i) {
    const float result = maxima[i] + bias[filter + i];
    output[((static_cast<size_t>(image) * kFilters + filter + i) * kPooledHeight + py) * kPooledWidth + px] =
        result > 0.0f ? result : 0.0f;
  }
}
