/* warpsmith-plan
{"version": 1, "min_arch": "@{ARCH}",
 "scratch": [{"name": "packed", "dtype": "float16", "shape": [@{packed_halves}]},
             {"name": "unscale", "dtype": "float32", "shape": [@{filters}]}],
 "steps": [
   {"kernel": "pack_weights", "grid": [@{filters}], "block": [128], "args": ["@{weight}", "packed", "unscale"]},
   {"kernel": "convolve", "grid": ["sm_count"], "block": ["32 * (@{CREWS} * @{LOADERS} + @{TEAMS} * @{WARPS})"],
    "shared_bytes": @{shared}, "args": ["@{input}", "packed", "unscale", "@{bias}", "output"]}]}
*/
// Convolution as a product of patches and filters on tensor cores, by warps of two trades. Loaders bring the input rows
// of the next tile into registers, find their largest magnitude, scale them by a power of two and lay them into shared
// memory in half precision, while the teams multiply the tile before. Nothing of the input is read beforehand to find a
// scale. Patches are never stored: fragments are read straight out of the rows, whose order makes every place in them a
// constant. All filters stay in shared memory, each with a scale of its own, while a block walks over tiles.
// With PARTS 2 each value is the sum of two halves, and of their four products the three that matter are added, small
// ones first: float32's precision. With PARTS 1 the precision is that of half operands.
#include <cuda_fp16.h>

#define WARPGROUPS @{GROUPS}
constexpr int kBatch = @{batch}, kChannels = @{channels}, kHeight = @{height}, kWidth = @{width};
constexpr int kFilters = @{filters}, kKernelHeight = @{kernel_height}, kKernelWidth = @{kernel_width};
constexpr int kStride = @{stride}, kPadding = @{padding};
constexpr int kOutHeight = @{out_height}, kOutWidth = @{out_width};
constexpr int kParts = @{PARTS}, kTogether = @{TOGETHER};  // products of 16 pixels that share filters
constexpr int kCrews = @{CREWS}, kLoaders = 32 * @{LOADERS};                       // threads of a crew
constexpr int kTeams = @{TEAMS}, kTeamWarps = @{WARPS}, kTeam = 32 * kTeamWarps;  // threads of a team
constexpr int kBuffers = 2;
constexpr bool kLongStores = @{LONG} == 1;  // of 32 pixels, in place of 16
constexpr int kThreads = kCrews * kLoaders + kTeams * kTeam;
constexpr bool kMoveRegisters = kCrews * kLoaders == 256 && kTeams * kTeam == 256 && kTogether == 2;  // to the teams
static_assert(kTogether <= 2 && kTeams <= kBuffers && kCrews <= kBuffers, "as the stores and barriers are");
constexpr int kTileRows = @{ROWS};
constexpr int kTilesOfImage = (kOutHeight + kTileRows - 1) / kTileRows, kTiles = kBatch * kTilesOfImage;
constexpr int kInRows = (kTileRows - 1) * kStride + kKernelHeight;

// A line is a row of one channel, the channels of a row one behind the other; so the lines of a patch stand in equal
// steps. Its columns are words of two halves, kShift of them before the padding, so that loaders store two at a time.
constexpr int kPitch = @{line};
constexpr int kShift = kPadding / 2 % 2;
constexpr int kLines = kChannels * kKernelHeight, kTileLines = kChannels * kInRows;
constexpr int kInWords = kTileLines * kPitch;
constexpr int kPixels = kTileRows * kOutWidth;
constexpr int kProducts = (kPixels + 15) / 16;
constexpr int kGroups = kFilters / 8;

// The inner dimension comes in quads of four words, two to a step of the tensor cores. A line has kFull quads, and two
// words may be left over: those of two neighbouring lines are one quad.
constexpr int kPairs = (kKernelWidth + 1) / 2;
constexpr int kFull = kPairs % 4 == 3 ? kPairs / 4 + 1 : kPairs / 4;
constexpr int kRest = kPairs % 4 == 1 || kPairs % 4 == 2 ? 1 : 0;
constexpr int kQuadsOfTwo = 2 * kFull + kRest;
constexpr int kQuads = kLines / 2 * kQuadsOfTwo + kLines % 2 * (kFull + kRest);
constexpr int kSteps = (kQuads + 1) / 2;
constexpr int kPackedWords = kSteps * 8 * kFilters;  // of one part
static_assert(kStride % 2 == 0 && kPadding % 2 == 0 && kWidth % 4 == 0, "words of two columns");
static_assert(kCrews == 1 || (kLoaders & (kLoaders - 1)) == 0, "crews are a power of two");
static_assert(kFilters % 16 == 0, "filters are loaded sixteen at a time");

enum Kind { kOneLine, kTwoLines, kLastLine };  // where the four words of a quad stand

struct Quad {
  int line, pair;
  Kind kind;
};

__device__ constexpr Quad quad_at(int quad) {
  if (quad >= kQuads) return {0, 0, kOneLine};  // filters are zero there
  const int two = quad / kQuadsOfTwo, within = quad % kQuadsOfTwo;
  const bool last = two == kLines / 2;
  const int full = last ? kFull : 2 * kFull;
  constexpr int kOfLine = kFull > 0 ? kFull : 1;
  if (within < full) return {2 * two + within / kOfLine, within % kOfLine * 4, kOneLine};
  return {2 * two, 4 * kFull, last ? kLastLine : kTwoLines};
}

// The power of two that brings a largest magnitude to [2^13, 2^14): halves hold what is 2^38 times smaller.
__device__ __forceinline__ int scale_exponent(unsigned largest) {
  const int exponent = static_cast<int>(largest >> 23) - 127;
  return 13 - (exponent < -100 ? -100 : exponent);
}

__device__ __forceinline__ float power_of_two(int exponent) { return __int_as_float((127 + exponent) << 23); }

// Without their sign, the bits of floats are ordered as the floats are.
__device__ __forceinline__ unsigned magnitude(float value) { return __float_as_uint(value) & 0x7fffffffu; }

__device__ __forceinline__ unsigned as_word(__half2 halves) { return *reinterpret_cast<unsigned*>(&halves); }

// A block a filter: its scale, and its words in the order in which tensor cores want them.
__global__ void __launch_bounds__(128)
    pack_weights(const float* __restrict__ weight, unsigned* __restrict__ packed, float* __restrict__ unscale) {
  __shared__ unsigned of_warps[4];
  const int filter = blockIdx.x;
  const float* const mine = weight + static_cast<size_t>(filter) * kChannels * kKernelHeight * kKernelWidth;
  unsigned largest = 0;
  for (int i = threadIdx.x; i < kChannels * kKernelHeight * kKernelWidth; i += 128) {
    largest = max(largest, magnitude(mine[i]));
  }
  largest = __reduce_max_sync(0xffffffffu, largest);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = largest;
  __syncthreads();
  largest = max(max(of_warps[0], of_warps[1]), max(of_warps[2], of_warps[3]));
  const int exponent = scale_exponent(largest);
  const float scale = power_of_two(exponent);
  if (threadIdx.x == 0) unscale[filter] = power_of_two(-exponent);
  for (int i = threadIdx.x; i < kSteps * 8; i += 128) {
    const int index = i / 4, place = i % 4, step = index / 2, half = index % 2;
    const Quad quad = quad_at(index);
    int line = quad.line, pair = quad.pair + place;
    if (quad.kind != kOneLine) {
      line += place / 2;
      pair -= place / 2 * 2;
    }
    float2 value = make_float2(0.0f, 0.0f);
    if (index < kQuads && line < kLines && 2 * pair < kKernelWidth) {
      const float* at = mine + (line % kChannels * kKernelHeight + line / kChannels) * kKernelWidth + 2 * pair;
      value.x = at[0] * scale;
      if (2 * pair + 1 < kKernelWidth) value.y = at[1] * scale;
    }
#if WARPGROUPS
    const int to = ((step * 2 + half) * kGroups + filter / 8) * 32 + filter % 8 * 4 + place;
#else
    const int lane = filter % 8 * 4 + place;
    const int to = ((step * (kFilters / 16) + filter / 16) * 32 + lane) * 4 + filter % 16 / 8 * 2 + half;
#endif
    const __half2 large = __floats2half2_rn(value.x, value.y);
    packed[to] = as_word(large);
    if (kParts == 2) {
      const float2 back = __half22float2(large);
      packed[kPackedWords + to] = as_word(__floats2half2_rn(value.x - back.x, value.y - back.y));
    }
  }
}

// Barriers of some of a block's threads; one side only arrives, the other one waits.
__device__ __forceinline__ void barrier_wait(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ __forceinline__ void barrier_arrive(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

constexpr int kFullBarrier = 1, kEmptyBarrier = kFullBarrier + kBuffers, kLoadersBarrier = kEmptyBarrier + kBuffers;

struct Memory {
  uint4* filters;
  float2* coefficients;  // of each filter: what its sums are multiplied with, and its bias
  unsigned* rows;        // of the buffers, each with both parts
  float* unscale;        // of the buffers
  unsigned* largest;     // of the loaders' warps, twice for each crew
};

constexpr int kRowVectors = kWidth / 4, kTileVectors = kTileLines * kRowVectors;
constexpr int kLoads = (kTileVectors + kLoaders - 1) / kLoaders;

// Places are computed anew each time: kept from tile to tile they would not fit the registers.
__device__ __forceinline__ int loader() {
  int thread = kCrews == 1 ? threadIdx.x : threadIdx.x & (kLoaders - 1);
  asm volatile("" : "+r"(thread));
  return thread;
}

__device__ __forceinline__ void fetch(const float* __restrict__ input, int tile, float4 (&held)[kLoads]) {
  const int image = tile / kTilesOfImage, top = tile % kTilesOfImage * kTileRows * kStride - kPadding;
  const int thread = loader();
  const float4* const from =
      reinterpret_cast<const float4*>(input) + static_cast<size_t>(image) * kChannels * kHeight * kRowVectors;
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int index = thread + i * kLoaders;
    const int line = index / kRowVectors, y = top + line / kChannels;
    held[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (index < kTileVectors && y >= 0 && y < kHeight) {
      held[i] = __ldg(from + (line % kChannels * kHeight + y) * kRowVectors + index % kRowVectors);
    }
  }
}

// Brings a tile into the L2 cache before it is fetched.
__device__ __forceinline__ void announce(const float* __restrict__ input, int tile) {
#if __CUDA_ARCH__ >= 900
  if (tile < kTiles && threadIdx.x % kLoaders < kChannels) {
    const int image = tile / kTilesOfImage, top = tile % kTilesOfImage * kTileRows * kStride - kPadding;
    const int first = max(top, 0), end = min(top + kInRows, kHeight);
    const float* const from =
        input + ((static_cast<size_t>(image) * kChannels + threadIdx.x % kLoaders) * kHeight + first) * kWidth;
    if (end > first) {
      const int bytes = (end - first) * kWidth * 4;
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
    }
  }
#endif
}

__device__ __forceinline__ void load_tiles(const float* __restrict__ input, const Memory& memory) {
  float4 held[kLoads];
  const int crew = threadIdx.x / kLoaders;
  int tile = blockIdx.x + crew * gridDim.x;
  if (tile < kTiles) fetch(input, tile, held);
  announce(input, tile + kCrews * gridDim.x);
  barrier_wait(0, kThreads);  // filters and padding are in place
  for (int n = crew; tile < kTiles; n += kCrews) {
    const int buffer = n % kBuffers;
    unsigned largest = 0;
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      largest = max(max(max(largest, magnitude(held[i].x)), magnitude(held[i].y)),
                    max(magnitude(held[i].z), magnitude(held[i].w)));
    }
    largest = __reduce_max_sync(0xffffffffu, largest);
    unsigned* const of_warps = memory.largest + (crew * 2 + n / kCrews % 2) * (kLoaders / 32);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x % kLoaders / 32] = largest;
    barrier_wait(kLoadersBarrier + crew, kLoaders);
#pragma unroll
    for (int i = 0; i < kLoaders / 32; ++i) largest = max(largest, of_warps[i]);
    const int exponent = scale_exponent(largest);
    const float scale = power_of_two(exponent);
    if (n >= kBuffers) barrier_wait(kEmptyBarrier + buffer, kLoaders + kTeam);
    if (threadIdx.x % kLoaders == 0) memory.unscale[buffer] = power_of_two(-exponent);
    unsigned* const rows = memory.rows + buffer * kParts * kInWords + kPadding / 2 + kShift;
    const int thread = loader();
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int index = thread + i * kLoaders;
      if (index < kTileVectors) {
        const float4 x = make_float4(held[i].x * scale, held[i].y * scale, held[i].z * scale, held[i].w * scale);
        const __half2 first = __floats2half2_rn(x.x, x.y), second = __floats2half2_rn(x.z, x.w);
        unsigned* const to = rows + index / kRowVectors * kPitch + index % kRowVectors * 2;
        *reinterpret_cast<uint2*>(to) = make_uint2(as_word(first), as_word(second));
        if (kParts == 2) {
          const float2 a = __half22float2(first), b = __half22float2(second);
          *reinterpret_cast<uint2*>(to + kInWords) =
              make_uint2(as_word(__floats2half2_rn(x.x - a.x, x.y - a.y)),
                         as_word(__floats2half2_rn(x.z - b.x, x.w - b.y)));
        }
      }
    }
    barrier_arrive(kFullBarrier + buffer, kLoaders + kTeam);
    tile += kCrews * gridDim.x;
    if (tile < kTiles) fetch(input, tile, held);
    announce(input, tile + kCrews * gridDim.x);
  }
}

#if WARPGROUPS
#define SUMS(g) "+f"(d[g][0]), "+f"(d[g][1]), "+f"(d[g][2]), "+f"(d[g][3])
#define SUMS4(g) SUMS(g), SUMS(g + 1), SUMS(g + 2), SUMS(g + 3)
// 64 pixels by all filters by 16 of the inner dimension; pixels from registers, filters from shared memory.
__device__ __forceinline__ void multiply(float (&d)[kGroups][4], const unsigned (&a)[4], unsigned long long b) {
#if @{filters} == 64
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
      : SUMS4(0), SUMS4(4)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#else  // @{filters} == 96
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, "
      "{%48, %49, %50, %51}, %52, 1, 1, 1, 0;"
      : SUMS4(0), SUMS4(4), SUMS4(8)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#endif
}
#else
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif

// The words of one step for kTogether times 16 pixels. `lines`: where a lane's words of each kind stand in a quad.
__device__ __forceinline__ void read_patches(const unsigned* __restrict__ rows, const int (&base)[kTogether][2],
                                             const int (&lines)[3], int step, unsigned (&a)[kTogether][4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const Quad quad = quad_at(2 * step + half);
    const int at = quad.line * kPitch + quad.pair;
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      a[i][2 * half] = rows[base[i][0] + lines[quad.kind] + at];
      a[i][2 * half + 1] = rows[base[i][1] + lines[quad.kind] + at];
    }
  }
}

// The compiler keeps what it does with the sums on its side of this.
__device__ __forceinline__ void settle(float (&sums)[kTogether][kGroups][4]) {
#pragma unroll
  for (int i = 0; i < kTogether; ++i) {
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
#pragma unroll
      for (int s = 0; s < 4; ++s) asm volatile("" : "+f"(sums[i][j][s])::"memory");
    }
  }
}

// Adds to the sums the product of the pixels and the filters; with two parts small by large, large by small, large by
// large, so that one reading of a patch serves two products.
__device__ __forceinline__ void add_products(float (&sums)[kTogether][kGroups][4], const unsigned* __restrict__ rows,
                                             const int (&base)[kTogether][2], const int (&lines)[3],
                                             const uint4* __restrict__ filters) {
#if WARPGROUPS
  // Eight filters by eight halves are 128 bytes in a row; then other filters, then the step's other eight halves.
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(filters));
  const unsigned long long descriptor = static_cast<unsigned long long>(address >> 4) |
                                        static_cast<unsigned long long>(kGroups * 128 >> 4) << 16 |
                                        static_cast<unsigned long long>(128 >> 4) << 32;
  settle(sums);
  unsigned a[2][kParts][kTogether][4];
#pragma unroll
  for (int part = 0; part < kParts; ++part) read_patches(rows + part * kInWords, base, lines, 0, a[0][part]);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const unsigned long long b = descriptor + static_cast<unsigned long long>(step * kGroups * 256 >> 4);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (kParts == 2) {
        multiply(sums[i], a[step % 2][kParts - 1][i], b);
        multiply(sums[i], a[step % 2][0][i], b + static_cast<unsigned long long>(kPackedWords * 4 >> 4));
      }
      multiply(sums[i], a[step % 2][0][i], b);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (step + 1 < kSteps) {
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        read_patches(rows + part * kInWords, base, lines, step + 1, a[(step + 1) % 2][part]);
      }
    }
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  settle(sums);
#else
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    unsigned a[kParts][kTogether][4];
#pragma unroll
    for (int part = 0; part < kParts; ++part) read_patches(rows + part * kInWords, base, lines, step, a[part]);
#pragma unroll
    for (int j = 0; j < kGroups; j += 2) {
      const uint4* const at = filters + (step * (kGroups / 2) + j / 2) * 32 + threadIdx.x % 32;
      const uint4 b = at[0], small = at[(kParts - 1) * kPackedWords / 4];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        if (kParts == 2) {
          multiply(sums[i][j], a[kParts - 1][i], b.x, b.y);
          multiply(sums[i][j + 1], a[kParts - 1][i], b.z, b.w);
          multiply(sums[i][j], a[0][i], small.x, small.y);
          multiply(sums[i][j + 1], a[0][i], small.z, small.w);
        }
        multiply(sums[i][j], a[0][i], b.x, b.y);
        multiply(sums[i][j + 1], a[0][i], b.z, b.w);
      }
    }
  }
#endif
}

// The results of 32 pixels and eight filters. Four lanes that have the same pixels exchange them, so that a lane has
// one pixel of all eight filters, and a store has 32 pixels of one.
__device__ __forceinline__ void store_line(const float (&first)[4], const float (&second)[4],
                                           const float2* coefficients, float unscale, float* __restrict__ to,
                                           int pixel, int end) {
  const bool odd = threadIdx.x % 2 == 1, high = threadIdx.x % 4 >= 2;
  float result[8];
#pragma unroll
  for (int s = 0; s < 2; ++s) {
    const float mine[4] = {first[s], first[2 + s], second[s], second[2 + s]};  // eight pixels each
    float one[2][2];                                                           // pixels' half, lane of a pair
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float other = __shfl_xor_sync(0xffffffffu, odd ? mine[2 * half] : mine[2 * half + 1], 1);
      one[half][0] = odd ? other : mine[2 * half];
      one[half][1] = odd ? mine[2 * half + 1] : other;
    }
#pragma unroll
    for (int lane = 0; lane < 2; ++lane) {
      const float other = __shfl_xor_sync(0xffffffffu, high ? one[0][lane] : one[1][lane], 2);
      result[2 * lane + s] = high ? other : one[0][lane];
      result[4 + 2 * lane + s] = high ? one[1][lane] : other;
    }
  }
  if (pixel >= end) return;
#pragma unroll
  for (int filter = 0; filter < 8; ++filter) {
    const float2 c = coefficients[filter];
    to[pixel + filter * (kOutHeight * kOutWidth)] = result[filter] * (c.x * unscale) + c.y;
  }
}

// The same for 16 pixels: lanes in pairs exchange halves, so that a store has 16 pixels of two filters.
__device__ __forceinline__ void store_half_line(const float (&d)[4], const float2* coefficients, float unscale,
                                                float* __restrict__ to, int pixel, int end) {
  const bool odd = threadIdx.x % 2 == 1;
  const float e0 = __shfl_xor_sync(0xffffffffu, odd ? d[0] : d[2], 1);
  const float e1 = __shfl_xor_sync(0xffffffffu, odd ? d[1] : d[3], 1);
  const float result[4] = {odd ? e0 : d[0], odd ? e1 : d[1], odd ? d[2] : e0, odd ? d[3] : e1};
  if (pixel >= end) return;
#pragma unroll
  for (int filter = 0; filter < 4; ++filter) {
    const float2 c = coefficients[threadIdx.x % 4 / 2 * 4 + filter];
    to[pixel + (threadIdx.x % 4 / 2 * 4 + filter) * (kOutHeight * kOutWidth)] = result[filter] * (c.x * unscale) + c.y;
  }
}

__device__ __forceinline__ void multiply_tiles(const uint4* __restrict__ packed, const float* __restrict__ unscales,
                                               const float* __restrict__ bias, const Memory& memory,
                                               float* __restrict__ output) {
  const int member = threadIdx.x - kCrews * kLoaders, team = member / kTeam;
  const int warp = member % kTeam / 32, lane = threadIdx.x % 32;
  // What loaders never write, the padding's columns, stays zero.
  for (int i = member; i < kBuffers * kParts * kInWords; i += kTeams * kTeam) memory.rows[i] = 0;
#pragma unroll 8
  for (int i = member; i < kParts * kPackedWords / 4; i += kTeams * kTeam) memory.filters[i] = packed[i];
  for (int i = member; i < kFilters; i += kTeams * kTeam) memory.coefficients[i] = make_float2(unscales[i], bias[i]);
#if WARPGROUPS
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  barrier_wait(0, kThreads);
  const int lines[3] = {lane % 4, lane % 2 + lane % 4 / 2 * kPitch, lane % 2};
  int tile = blockIdx.x + team * gridDim.x;
  for (int n = team; tile < kTiles; n += kTeams, tile += kTeams * gridDim.x) {
    const int buffer = n % kBuffers;
    const int image = tile / kTilesOfImage, first_row = tile % kTilesOfImage * kTileRows;
    barrier_wait(kFullBarrier + buffer, kLoaders + kTeam);
    const float unscale = memory.unscale[buffer];
    const unsigned* const rows = memory.rows + buffer * kParts * kInWords;
    constexpr int kPace = kTeamWarps * kTogether;  // products of 16 pixels
#pragma unroll 1
    for (int round = 0; round < kProducts; round += kPace) {
      const int product = round + warp * kTogether;  // a warp's pixels are neighbours, in whatever product
      // Warps of a group go together.
      const bool busy = WARPGROUPS ? round + warp / 4 * 4 * kTogether < kProducts : product < kProducts;
      const bool last = round + kPace >= kProducts;
      float sums[kTogether][kGroups][4];
      if (busy) {
        int base[kTogether][2];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
#pragma unroll
          for (int j = 0; j < kGroups; ++j) {
#pragma unroll
            for (int s = 0; s < 4; ++s) sums[i][j][s] = 0.0f;
          }
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const int pixel = min((product + i) * 16 + half * 8 + lane / 4, kPixels - 1);
            base[i][half] = pixel / kOutWidth * kStride * kChannels * kPitch +
                            pixel % kOutWidth * (kStride / 2) + kShift;
          }
        }
        add_products(sums, rows, base, lines, memory.filters);
      }
      // The tile is multiplied: the loaders may have the buffer, where they have a tile for it.
      if (last && tile + kBuffers * static_cast<int>(gridDim.x) < kTiles) {
        barrier_arrive(kEmptyBarrier + buffer, kLoaders + kTeam);
      }
      if (busy) {
        constexpr int kPlane = kOutHeight * kOutWidth;
        float* to = output + static_cast<size_t>(image) * kFilters * kPlane + first_row * kOutWidth;
        const int end = min(kPixels, (kOutHeight - first_row) * kOutWidth);
#pragma unroll
        for (int j = 0; j < kGroups; ++j, to += 8 * kPlane) {
          const float2* const coefficients = memory.coefficients + j * 8;
          if constexpr (kTogether == 2 && kLongStores) {
            const int pixel = product * 16 + lane % 4 * 8 + lane / 4;
            store_line(sums[0][j], sums[kTogether - 1][j], coefficients, unscale, to, pixel, end);
          } else {
#pragma unroll
            for (int i = 0; i < kTogether; ++i) {
              const int pixel = (product + i) * 16 + lane % 2 * 8 + lane / 4;
              store_half_line(sums[i][j], coefficients, unscale, to, pixel, end);
            }
          }
        }
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    convolve(const float* __restrict__ input, const uint4* __restrict__ packed, const float* __restrict__ unscale,
             const float* __restrict__ bias, float* __restrict__ output) {
  extern __shared__ __align__(128) char shared[];
  Memory memory;
  memory.filters = reinterpret_cast<uint4*>(shared);
  memory.coefficients = reinterpret_cast<float2*>(memory.filters + kParts * kPackedWords / 4);
  memory.rows = reinterpret_cast<unsigned*>(memory.coefficients + kFilters);
  memory.unscale = reinterpret_cast<float*>(memory.rows + kBuffers * kParts * kInWords);
  memory.largest = reinterpret_cast<unsigned*>(memory.unscale + kBuffers);
  if (threadIdx.x < kCrews * kLoaders) {
#if WARPGROUPS
    if (kMoveRegisters) asm volatile("setmaxnreg.dec.sync.aligned.u32 104;");
#endif
    load_tiles(input, memory);
  } else {
#if WARPGROUPS
    if (kMoveRegisters) asm volatile("setmaxnreg.inc.sync.aligned.u32 152;");
#endif
    multiply_tiles(packed, unscale, bias, memory, output);
  }
}
