/* warpsmith-plan
{"version": 1, "min_arch": "sm_80",
 "scratch": [{"name": "largest", "dtype": "int32", "shape": [2]},
             {"name": "packed", "dtype": "float16", "shape": [@{packed}]}],
 "steps": [
   {"memset": "largest", "value": 0, "width": 4},
   {"kernel": "find_largest", "grid": ["4 * sm_count"], "block": [512], "args": ["@{input}", "@{weight}", "largest"]},
   {"kernel": "pack_weights", "grid": [@{pack_blocks}], "block": [256], "args": ["@{weight}", "largest", "packed"]},
   {"kernel": "convolve_pool", "grid": ["@{BLOCKS} * sm_count"], "block": ["32 * @{WARPS}"], "shared_bytes": @{shared},
    "args": ["@{input}", "packed", "@{bias}", "largest", "output"]}]}
*/
// Convolution as a product of patches and filters on tensor cores. Patches are never stored: a block keeps the input
// rows of its tile in shared memory, in half precision, and the fragments of the product are read straight out of them.
// All filters stay in shared memory, in the order in which fragments want them, while the block walks over tiles.
// Values are scaled by powers of two. With PARTS 2 each is the sum of two halves, and of their four products the three
// that matter are added, small ones first: float32's precision. With PARTS 1 the precision is that of half operands.
// The tile's results, still in shared memory, are pooled before anything is written: maximum, bias and rectifier.
#include <cuda_fp16.h>

constexpr int kBatch = @{batch}, kChannels = @{channels}, kHeight = @{height}, kWidth = @{width};
constexpr int kFilters = @{filters}, kKernelHeight = @{kernel_height}, kKernelWidth = @{kernel_width};
constexpr int kStride = @{stride}, kPadding = @{padding};
constexpr int kOutWidth = @{out_width};  // of the convolution
constexpr int kWarps = @{WARPS}, kParts = @{PARTS}, kTogether = @{TOGETHER};  // products of 16 pixels that share filters
constexpr int kPool = @{pool}, kPoolStride = @{pool_stride}, kPooledRows = @{ROWS};
constexpr int kPooledHeight = @{pooled_height}, kPooledWidth = @{pooled_width};
constexpr int kTileRows = (kPooledRows - 1) * kPoolStride + kPool, kTileStep = kPooledRows * kPoolStride;
constexpr int kTilesOfImage = (kPooledHeight + kPooledRows - 1) / kPooledRows;
constexpr int kInRows = (kTileRows - 1) * kStride + kKernelHeight;
// Tensor cores take the inner dimension in pairs: two neighbouring columns of one filter row, where an even stride
// keeps them together, or else the same element of two neighbouring channels.
constexpr bool kPairColumns = @{pair_columns} == 1;
constexpr int kPairsOfRow = kPairColumns ? (kKernelWidth + 1) / 2 : kKernelWidth;
constexpr int kPlanes = kPairColumns ? kChannels : (kChannels + 1) / 2;
constexpr int kPairs = kPlanes * kKernelHeight * kPairsOfRow;
constexpr int kSteps = (kPairs + 7) / 8;
constexpr int kColumns = (kOutWidth - 1) * kStride + (kPairColumns ? 2 * kPairsOfRow : kKernelWidth);
constexpr int kPitch = kPairColumns ? (kColumns + 1) / 2 : kColumns;  // of a row of the input tile, in pairs
constexpr int kInWords = kPlanes * kInRows * kPitch;
constexpr int kPixels = kTileRows * kOutWidth;
constexpr int kProducts = (kPixels + 15) / 16;
constexpr int kGroups = kFilters / 8;
constexpr int kPackedWords = kSteps * 8 * kFilters;  // of one part
constexpr int kOffsets = kSteps * 8;
constexpr int kPixelPitch = kPixels | 1;  // odd: neighbouring filters lie in different banks
static_assert(kProducts <= kWarps * kTogether, "a warp holds its results until the input rows are done with");
static_assert(kFilters % 16 == 0, "filters are loaded sixteen at a time");

// The power of two that brings a matrix's largest magnitude to [2^13, 2^14): halves hold what is 2^38 times smaller.
__device__ __forceinline__ int scale_exponent(unsigned largest) {
  const int exponent = static_cast<int>(largest >> 23) - 127;
  return 13 - (exponent < -100 ? -100 : exponent);
}

__device__ __forceinline__ float power_of_two(int exponent) { return __int_as_float((127 + exponent) << 23); }

__device__ __forceinline__ unsigned largest_of(const float* __restrict__ matrix, long long count) {
  const uint4* vectors = reinterpret_cast<const uint4*>(matrix);
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  unsigned largest = 0;
  // Without their sign, the bits of floats are ordered as the floats are.
#pragma unroll 4
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count / 4; i += step) {
    const uint4 v = vectors[i];
    largest = max(max(largest, v.x & 0x7fffffffu), max(v.y & 0x7fffffffu, max(v.z & 0x7fffffffu, v.w & 0x7fffffffu)));
  }
  if (blockIdx.x == 0 && threadIdx.x < count % 4) {
    largest = max(largest, __float_as_uint(matrix[count / 4 * 4 + threadIdx.x]) & 0x7fffffffu);
  }
  return largest;
}

__global__ void __launch_bounds__(512)
    find_largest(const float* __restrict__ input, const float* __restrict__ weight, unsigned* __restrict__ largest) {
  __shared__ unsigned of_block[2];
  if (threadIdx.x < 2) of_block[threadIdx.x] = 0;
  __syncthreads();
  const unsigned of_input = __reduce_max_sync(0xffffffffu, largest_of(input, static_cast<long long>(kBatch) * kChannels * kHeight * kWidth));
  const unsigned of_weight = __reduce_max_sync(0xffffffffu, largest_of(weight, static_cast<long long>(kFilters) * kChannels * kKernelHeight * kKernelWidth));
  if (threadIdx.x % 32 == 0) {
    atomicMax(&of_block[0], of_input);
    atomicMax(&of_block[1], of_weight);
  }
  __syncthreads();
  if (threadIdx.x < 2) atomicMax(&largest[threadIdx.x], of_block[threadIdx.x]);
}


// Word `index` of the packed filters: for each step of 16 and each 16 filters, the four words of each lane together.
__global__ void pack_weights(const float* __restrict__ weight, const unsigned* __restrict__ largest,
                             __half2* __restrict__ packed) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= kPackedWords) return;
  const int word = index % 4, lane = index / 4 % 32, groups = index / 128 % (kFilters / 16), step = index / (8 * kFilters);
  const int filter = groups * 16 + word / 2 * 8 + lane / 4, pair = step * 8 + lane % 4 + word % 2 * 4;
  const float scale = power_of_two(scale_exponent(largest[1]));
  float2 value = make_float2(0.0f, 0.0f);
  if (pair < kPairs) {
    const int plane = pair / (kKernelHeight * kPairsOfRow), row = pair / kPairsOfRow % kKernelHeight;
    const int column = pair % kPairsOfRow;
    const int channel = kPairColumns ? plane : 2 * plane, x = kPairColumns ? 2 * column : column;
    const float* at = weight + ((static_cast<size_t>(filter) * kChannels + channel) * kKernelHeight + row) * kKernelWidth + x;
    value.x = *at * scale;
    if (kPairColumns) {
      if (x + 1 < kKernelWidth) value.y = at[1] * scale;
    } else if (channel + 1 < kChannels) {
      value.y = at[kKernelHeight * kKernelWidth] * scale;
    }
  }
  const __half2 large = __floats2half2_rn(value.x, value.y);
  packed[index] = large;
  if (kParts == 2) {
    const float2 back = __half22float2(large);
    packed[kPackedWords + index] = __floats2half2_rn(value.x - back.x, value.y - back.y);
  }
}

__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ float element(const float* __restrict__ input, int image, int channel, int y, int x) {
  const bool inside = channel < kChannels && y >= 0 && y < kHeight && x >= 0 && x < kWidth;
  return inside ? __ldg(input + ((static_cast<size_t>(image) * kChannels + channel) * kHeight + y) * kWidth + x) : 0.0f;
}

// The tile's input rows, scaled and in halves.
__device__ __forceinline__ void load_rows(const float* __restrict__ input, int image, int first_row, float scale,
                                          __half2* __restrict__ rows) {
#pragma unroll 6
  for (int i = threadIdx.x; i < kInWords; i += kWarps * 32) {
    const int column = i % kPitch, row = i / kPitch % kInRows, plane = i / (kPitch * kInRows);
    const int y = first_row * kStride - kPadding + row;
    float2 value = make_float2(0.0f, 0.0f);
    if constexpr (kPairColumns && kPadding % 2 == 0 && kWidth % 2 == 0) {  // both columns inside or both outside
      const int x = 2 * column - kPadding;
      if (y >= 0 && y < kHeight && x >= 0 && x < kWidth) {
        value = __ldg(reinterpret_cast<const float2*>(
            input + ((static_cast<size_t>(image) * kChannels + plane) * kHeight + y) * kWidth + x));
      }
    } else if constexpr (kPairColumns) {
      value = make_float2(element(input, image, plane, y, 2 * column - kPadding),
                          element(input, image, plane, y, 2 * column + 1 - kPadding));
    } else {
      value = make_float2(element(input, image, 2 * plane, y, column - kPadding),
                          element(input, image, 2 * plane + 1, y, column - kPadding));
    }
    const float2 scaled = make_float2(value.x * scale, value.y * scale);
    const __half2 large = __floats2half2_rn(scaled.x, scaled.y);
    rows[i] = large;
    if (kParts == 2) {
      const float2 back = __half22float2(large);
      rows[kInWords + i] = __floats2half2_rn(scaled.x - back.x, scaled.y - back.y);
    }
  }
}

// Adds to the sums the product of one part of the pixels and one part of the filters.
__device__ __forceinline__ void add_product(float (&sums)[kTogether][kGroups][4], const unsigned* __restrict__ rows,
                                            const int (&base)[kTogether][2], const int* __restrict__ offsets,
                                            const uint4* __restrict__ filters) {
  const int lane = threadIdx.x % 32;
#pragma unroll 2
  for (int step = 0; step < kSteps; ++step) {
    const int offset0 = offsets[step * 8 + lane % 4], offset1 = offsets[step * 8 + lane % 4 + 4];
    unsigned a[kTogether][4];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      a[i][0] = rows[base[i][0] + offset0];
      a[i][1] = rows[base[i][1] + offset0];
      a[i][2] = rows[base[i][0] + offset1];
      a[i][3] = rows[base[i][1] + offset1];
    }
#pragma unroll
    for (int j = 0; j < kGroups; j += 2) {
      const uint4 b = filters[(step * (kGroups / 2) + j / 2) * 32 + lane];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        multiply(sums[i][j], a[i], b.x, b.y);
        multiply(sums[i][j + 1], a[i], b.z, b.w);
      }
    }
  }
}

__global__ void __launch_bounds__(kWarps * 32, @{BLOCKS})
    convolve_pool(const float* __restrict__ input, const uint4* __restrict__ packed, const float* __restrict__ bias,
             const unsigned* __restrict__ largest, float* __restrict__ output) {
  extern __shared__ __align__(16) char memory[];
  uint4* filters = reinterpret_cast<uint4*>(memory);
  int* offsets = reinterpret_cast<int*>(filters + kParts * kPackedWords / 4);
  unsigned* rows = reinterpret_cast<unsigned*>(offsets + kOffsets);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = threadIdx.x; i < kParts * kPackedWords / 4; i += kWarps * 32) filters[i] = packed[i];
  for (int i = threadIdx.x; i < kOffsets; i += kWarps * 32) {
    const int plane = i / (kKernelHeight * kPairsOfRow), row = i / kPairsOfRow % kKernelHeight;
    offsets[i] = i < kPairs ? (plane * kInRows + row) * kPitch + i % kPairsOfRow : 0;
  }
  const float scale = power_of_two(scale_exponent(largest[0]));
  const float unscale = power_of_two(-scale_exponent(largest[0])), unscale_weight = power_of_two(-scale_exponent(largest[1]));
  for (int tile = blockIdx.x; tile < kBatch * kTilesOfImage; tile += gridDim.x) {
    const int image = tile / kTilesOfImage, first_row = tile % kTilesOfImage * kTileStep;
    __syncthreads();  // nobody reads the last tile's rows any more
    load_rows(input, image, first_row, scale, reinterpret_cast<__half2*>(rows));
    __syncthreads();
    const int product = warp * kTogether;
    float sums[kTogether][kGroups][4] = {};
    {
      int base[kTogether][2];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int pixel = min((product + i) * 16 + half * 8 + lane / 4, kPixels - 1);
          base[i][half] = pixel / kOutWidth * kStride * kPitch + pixel % kOutWidth * (kPairColumns ? kStride / 2 : kStride);
        }
      }
      if (kParts == 2) {
        add_product(sums, rows + kInWords, base, offsets, filters);
        add_product(sums, rows, base, offsets, filters + kPackedWords / 4);
      }
      add_product(sums, rows, base, offsets, filters);
    }
    __syncthreads();  // results take the place of the input rows
    float* results = reinterpret_cast<float*>(rows);
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int pixel = (product + i) * 16 + half * 8 + lane / 4;
        if (pixel >= kPixels) continue;
#pragma unroll
        for (int j = 0; j < kGroups; ++j) {
          results[(j * 8 + lane % 4 * 2) * kPixelPitch + pixel] = sums[i][j][half * 2];
          results[(j * 8 + lane % 4 * 2 + 1) * kPixelPitch + pixel] = sums[i][j][half * 2 + 1];
        }
      }
    }
    __syncthreads();
    const int first_pooled = tile % kTilesOfImage * kPooledRows;
    const int pooled_rows = min(kPooledRows, kPooledHeight - first_pooled);
    for (int i = threadIdx.x; i < kFilters * pooled_rows * kPooledWidth; i += kWarps * 32) {
      const int x = i % kPooledWidth, y = i / kPooledWidth % pooled_rows, filter = i / (kPooledWidth * pooled_rows);
      const float* window = results + filter * kPixelPitch + y * kPoolStride * kOutWidth + x * kPoolStride;
      float maximum = window[0];
#pragma unroll
      for (int dy = 0; dy < kPool; ++dy) {
#pragma unroll
        for (int dx = 0; dx < kPool; ++dx) maximum = fmaxf(maximum, window[dy * kOutWidth + dx]);
      }
      output[((static_cast<size_t>(image) * kFilters + filter) * kPooledHeight + first_pooled + y) * kPooledWidth + x] =
          fmaxf(maximum * unscale * unscale_weight + __ldg(bias + filter), 0.0f);
    }
  }
}
