/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "convolve",
            "grid": ["1 + (@{out_width} - 1 - (@{out_width} - 1) % (@{PIXELS} * @{BX})) / (@{PIXELS} * @{BX})",
                     "1 + (@{out_height} - 1 - (@{out_height} - 1) % @{BY}) / @{BY}",
                     "(1 + (@{filters} - 1 - (@{filters} - 1) % @{CHANNELS}) / @{CHANNELS}) * @{batch}"],
            "block": [@{BX}, @{BY}], "args": ["@{input}", "@{weight}", "@{bias}", "output"]}]}
*/
// As a strip of pixels by a group of channels, with a path without bounds checks for strips inside the image.

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
constexpr int kPixels = @{PIXELS};
constexpr int kGroups = (kFilters + kGroup - 1) / kGroup;
constexpr int kBlockX = @{BX};                                   // strips of a row
constexpr int kBlockY = @{BY};                                   // rows
constexpr int kWindow = (kPixels - 1) * kStride + kFilterWidth;  // input elements a strip needs of one row

__device__ __forceinline__ void load_border(float (&window)[kWindow], const float* row, int left) {
#pragma unroll
  for (int i = 0; i < kWindow; ++i) window[i] = left + i >= 0 && left + i < kWidth ? row[left + i] : 0.0f;
}

__device__ __forceinline__ void load_inside(float (&window)[kWindow], const float* start) {
#pragma unroll
  for (int i = 0; i < kWindow; ++i) window[i] = start[i];
}

// Adds one row of the filter, over the window of one input row, to the strip's sums.
__device__ __forceinline__ void multiply_row(const float (&window)[kWindow], const float (*values)[kGroup],
                                             float (&sums)[kGroup][kPixels]) {
#pragma unroll
  for (int s = 0; s < kFilterWidth; ++s) {
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const float value = values[s][i];
#pragma unroll
      for (int p = 0; p < kPixels; ++p) sums[i][p] += window[p * kStride + s] * value;
    }
  }
}

__global__ void __launch_bounds__(kBlockX * kBlockY)
    convolve(const float* __restrict__ input, const float* __restrict__ weight, const float* __restrict__ bias,
             float* __restrict__ output) {
  // The group's filters with the output channel innermost; channels past the last are zero and are not stored.
  __shared__ __align__(16) float values[kPatch][kGroup];
  const int first = blockIdx.z % kGroups * kGroup;
  const int thread = threadIdx.y * kBlockX + threadIdx.x;
  for (int i = thread; i < kPatch * kGroup; i += kBlockX * kBlockY) {
    const int channel = i / kPatch;
    values[i % kPatch][channel] =
        first + channel < kFilters ? weight[static_cast<size_t>(first + channel) * kPatch + i % kPatch] : 0.0f;
  }
  __syncthreads();
  const int batch = blockIdx.z / kGroups;
  const int out_y = blockIdx.y * kBlockY + threadIdx.y;
  const int out_x = (blockIdx.x * kBlockX + threadIdx.x) * kPixels;
  if (out_y >= kOutHeight || out_x >= kOutWidth) return;
  const float* image = input + static_cast<size_t>(batch) * kChannels * kHeight * kWidth;
  const int top = out_y * kStride - kPadding;
  const int left = out_x * kStride - kPadding;

  float sums[kGroup][kPixels];
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const float start = first + i < kFilters ? bias[first + i] : 0.0f;
#pragma unroll
    for (int p = 0; p < kPixels; ++p) sums[i][p] = start;
  }
  const int first_row = top < 0 ? -top : 0;
  const int last_row = top + kFilterHeight > kHeight ? kHeight - top : kFilterHeight;
  const bool inside = left >= 0 && left + kWindow <= kWidth;
  for (int channel = 0; channel < kChannels; ++channel) {
    for (int r = first_row; r < last_row; ++r) {
      const float* row = image + (channel * kHeight + top + r) * kWidth;
      float window[kWindow];
      if (inside) {
        load_inside(window, row + left);
      } else {
        load_border(window, row, left);
      }
      multiply_row(window, values + (channel * kFilterHeight + r) * kFilterWidth, sums);
    }
  }
  const size_t plane = static_cast<size_t>(batch) * kFilters + first;
  float* result = output + (plane * kOutHeight + out_y) * kOutWidth + out_x;
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      if (first + i < kFilters && out_x + p < kOutWidth) {
        result[static_cast<size_t>(i) * kOutHeight * kOutWidth + p] = sums[i][p];
      }
    }
  }
}
