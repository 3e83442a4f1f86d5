/* warpsmith-plan
{"version": 1, "min_arch": "sm_90a",
 "scratch": [{"name": "unscales", "dtype": "float32", "shape": [96]},
             {"name": "packed", "dtype": "float16", "shape": [@{packed}]}],
 "steps": [
   {"kernel": "pack_weights", "grid": [96], "block": [128], "args": ["@{weight}", "unscales", "packed"]},
   {"kernel": "convolve_pool", "grid": ["min(sm_count, @{pooled_rows})"], "block": [384], "shared_bytes": @{shared},
    "args": ["@{input}", "packed", "@{bias}", "unscales", "output"]}]}
*/
// Convolution as a product of patches and filters by warpgroup products, then bias, rectifier and maximum pool of 3 with
// stride 2. A block walks down pooled rows: each one adds two rows of the convolution to one that is kept in registers.
// One warpgroup brings a frame of input rows, padded, into registers, finds its largest magnitude, and lays it down in
// shared memory scaled and already split into two halves whose sum is the float32 value: once an element, where whoever
// splits fragments does it again for every patch that holds the element. Two warpgroups multiply, a row of the
// convolution each: fragments are read straight out of the rows, beside the products of those before, and go in as they
// are. A row begins when its whole frame is there, so that nothing waits between products. Filters, split as well, a
// scale each, stay in shared memory. Of the four products of two such sums the three that matter are added.
#include <cuda_fp16.h>

constexpr int kChannels = @{channels}, kHeight = @{height}, kWidth = @{width};
constexpr int kFilters = @{filters}, kKernelHeight = @{kernel_height}, kKernelWidth = @{kernel_width};
constexpr int kStride = 4, kPadding = @{padding}, kOutWidth = @{out_width};  // of the convolution
constexpr int kPooledHeight = @{pooled_height}, kPooledWidth = @{pooled_width}, kPooledRows = @{pooled_rows};  // of all images
// Four neighbouring columns, a quad, are what a lane reads at once: pairs of first halves, then pairs of second ones.
constexpr int kQuads = (kKernelWidth + 3) / 4;    // of a filter's row
constexpr int kRows = kChannels * kKernelHeight;  // of a filter
constexpr int kGroups = kRows / 4;                // of four rows, one for each lane of four; kQuads steps of 16
constexpr int kRest = kRows % 4 * kQuads;         // quads left over, one for each lane, in one step
constexpr int kAllGroups = kGroups + (kRest > 0 ? 1 : 0), kSteps = kGroups * kQuads + (kRest > 0 ? 1 : 0);
constexpr int kColumns = 96, kStepBytes = kColumns * 32, kHalvesBytes = kSteps * kStepBytes;  // filters of a product
constexpr int kRowQuads = @{row_quads}, kPitch = kRowQuads * 16;  // of an input row; odd, against bank conflicts
constexpr int kUnitRows = kStride + kKernelHeight;  // input rows for two rows of the convolution, of one channel
constexpr int kUnitStride = (kUnitRows * kPitch + 127) / 128 * 128, kUnits = @{UNITS};
constexpr int kLoads = (kUnitRows + 1) / 2;  // rows of a unit that a loading thread takes part in
static_assert(kRowQuads <= 64 && kRest <= 4, "two rows for 128 threads, one step for what is left over");
static_assert(kUnits >= kChannels && kAllGroups >= 2, "a whole frame, two groups or more of it");
static_assert(kPadding % 2 == 0 && kWidth % 2 == 0, "two columns are both inside or both outside");

// The power of two that brings a matrix's largest magnitude to [2^13, 2^14): halves hold what is 2^38 times smaller.
__device__ __forceinline__ int scale_exponent(unsigned largest) {
  const int exponent = static_cast<int>(largest >> 23) - 127;
  return 13 - (exponent < -100 ? -100 : exponent);
}

__device__ __forceinline__ float power_of_two(int exponent) { return __int_as_float((127 + exponent) << 23); }

__device__ __forceinline__ unsigned pair_of(float first, float second) {
  const __half2 pair = __floats2half2_rn(first, second);
  return *reinterpret_cast<const unsigned*>(&pair);
}

// A block a filter, with a scale of its own. For each step and each eight filters two matrices of 8 filters by 8
// elements, the second halves after all first ones.
__global__ void __launch_bounds__(128)
    pack_weights(const float* __restrict__ weight, float* __restrict__ unscales, unsigned* __restrict__ packed) {
  __shared__ unsigned of_warps[4];
  const int filter = blockIdx.x;
  constexpr int kCount = kRows * kKernelWidth, kTurns = (kCount + 127) / 128;
  __shared__ float mine[kCount];
  unsigned largest = 0;
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int i = turn * 128 + threadIdx.x;
    if (i < kCount) {
      mine[i] = filter < kFilters ? weight[filter * kCount + i] : 0.0f;
      largest = max(largest, __float_as_uint(mine[i]) & 0x7fffffffu);
    }
  }
  largest = __reduce_max_sync(0xffffffffu, largest);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = largest;
  __syncthreads();
  largest = max(max(of_warps[0], of_warps[1]), max(of_warps[2], of_warps[3]));
  const float scale = power_of_two(scale_exponent(largest));
  if (threadIdx.x == 0) unscales[filter] = power_of_two(-scale_exponent(largest));
#pragma unroll
  for (int word = threadIdx.x; word < kSteps * 8; word += 128) {
    const int step = word / 8, lane = word % 4, pair = word / 4 % 2;
    const bool whole = step < kGroups * kQuads, valid = whole || lane < kRest;
    const int row = whole ? step / kQuads * 4 + lane : kGroups * 4 + lane / kQuads;
    const int quad = whole ? step % kQuads : lane % kQuads;
    float value[2], rest[2];
    for (int i = 0; i < 2; ++i) {
      const int column = quad * 4 + pair * 2 + i;
      value[i] = valid && column < kKernelWidth ? mine[row * kKernelWidth + column] * scale : 0.0f;
      rest[i] = value[i] - __half2float(__float2half_rn(value[i]));
    }
    const int at = step * kColumns * 8 + (filter / 8 * 2 + pair) * 32 + filter % 8 * 4 + lane;
    packed[at] = pair_of(value[0], value[1]);
    packed[kHalvesBytes / 4 + at] = pair_of(rest[0], rest[1]);
  }
}

__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n"
                 : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  }
}

// Once a warp, when all its lanes have come here.
__device__ __forceinline__ void arrive(unsigned barrier, int lane) {
  __syncwarp();
  if (lane == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void read_quad(unsigned address, unsigned (&to)[4]) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}

__device__ __forceinline__ void write_quad(unsigned address, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
               ::"r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// 64 pixels by 96 filters; the left operand comes from registers.
__device__ __forceinline__ void multiply(float (&d)[48], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                         unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %53, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, "
      "{%48, %49, %50, %51}, %52, add, 1, 1, 0;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
        "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
        "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(add));
}

// A quad's first halves, then its second ones, in pairs. A first half is cut off, not rounded: the rest is exact.
__device__ __forceinline__ uint4 split(uint2 first, uint2 second, float scale) {
  const unsigned bits[4] = {first.x, first.y, second.x, second.y};
  float large[4], small[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float value = __uint_as_float(bits[i]) * scale;
    large[i] = __uint_as_float(__float_as_uint(value) & 0xffffe000u);
    small[i] = value - large[i];
  }
  return make_uint4(pair_of(large[0], large[1]), pair_of(large[2], large[3]), pair_of(small[0], small[1]),
                    pair_of(small[2], small[3]));
}

// Two columns, zero where there are none.
__device__ __forceinline__ uint2 load_pair(const float* from, bool there) {
  uint2 v;
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %3, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\n"
      "@p ld.global.nc.v2.u32 {%0, %1}, [%2];\n}\n"
      : "=&r"(v.x), "=&r"(v.y) : "l"(from), "r"(static_cast<int>(there)) : "memory");
  return v;
}

// Products that read these registers are done; what follows may write them.
__device__ __forceinline__ void settle(unsigned (&words)[4]) {
  asm volatile("" : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3])::"memory");
}

// What a block does. A frame is the input for two rows of the convolution, of which the second begins the next pooled
// row; before an image's first row, and the block's first one, a frame serves for that second row alone.
struct Walk {
  // Pooled rows of all images.
  int row = static_cast<int>(static_cast<long long>(blockIdx.x) * kPooledRows / gridDim.x);
  int last = static_cast<int>(static_cast<long long>(blockIdx.x + 1) * kPooledRows / gridDim.x);
  bool begins = true;  // the frame before the pooled row

  __device__ __forceinline__ bool done() const { return row == last; }
  __device__ __forceinline__ void next_frame() {
    row += begins ? 0 : 1;
    begins = !begins && row % kPooledHeight == 0;
  }
  __device__ __forceinline__ int image() const { return row / kPooledHeight; }
  __device__ __forceinline__ int pooled() const { return row % kPooledHeight; }
  __device__ __forceinline__ int first_row() const { return (pooled() * 2 + (begins ? -1 : 1)) * kStride - kPadding; }
};

__global__ void __launch_bounds__(384, 1)
    convolve_pool(const float* __restrict__ input, const char* __restrict__ packed, const float* __restrict__ bias,
                  const float* __restrict__ unscales, float* __restrict__ output) {
  extern __shared__ __align__(128) char memory[];
  __shared__ __align__(8) unsigned long long barriers[2 * kUnits + 3];
  __shared__ unsigned largest_of[2][4];  // of loaders' warps, of two frames in turn
  __shared__ float unscale_of[kUnits];   // of a frame, with its first unit
  __shared__ __align__(16) float2 coefficients[kColumns];  // what a filter's maxima are multiplied with, and its bias
  const unsigned filters = (static_cast<unsigned>(__cvta_generic_to_shared(memory)) + 127u) & ~127u;
  const unsigned units = filters + 2 * kHalvesBytes;
  const unsigned handed = units + kUnits * kUnitStride;  // maxima of first rows, from one warpgroup to the other
  const unsigned ready = static_cast<unsigned>(__cvta_generic_to_shared(barriers)), empty = ready + 8 * kUnits;
  const unsigned handed_full = empty + 8 * kUnits, handed_empty = handed_full + 8, filters_full = handed_full + 16;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2 * kUnits + 3; ++i) {  // warps that arrive; at the last one, the copy of the filters
      const int count = i >= kUnits && i < 2 * kUnits ? 8 : i < 2 * kUnits + 2 ? 4 : 1;
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ready + 8 * i), "r"(count));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    constexpr unsigned kPiece = 5 * kStepBytes;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(filters_full), "r"(2 * kHalvesBytes));
    for (unsigned at = 0; at < 2 * kHalvesBytes; at += kPiece) {
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(filters + at),
          "l"(packed + at), "r"(min(kPiece, 2 * kHalvesBytes - at)), "r"(filters_full)
          : "memory");
    }
  }
  if (threadIdx.x < kColumns) {
    coefficients[threadIdx.x] = make_float2(unscales[threadIdx.x], threadIdx.x < kFilters ? bias[threadIdx.x] : 0.0f);
  }
  __syncthreads();
  Walk walk;
  int unit = 0, phase = 0;
  if (warp >= 8) {  // brings input rows: the next frame comes into registers while this one is multiplied
    asm volatile("setmaxnreg.dec.sync.aligned.u32 120;");
    const int thread = threadIdx.x - 256;
    // Two rows at once, 64 quads each, of which not all are there.
    const int of_two = thread / 64, quad = thread % 64, x = quad * 4 - kPadding;
    const bool first_inside = quad < kRowQuads && x >= 0 && x < kWidth;
    const bool second_inside = quad < kRowQuads && x + 2 >= 0 && x + 2 < kWidth;
    uint2 held[kChannels][2 * kLoads];
    const auto row_there = [&](int i) { return kUnitRows % 2 == 0 || i + 1 < kLoads || of_two == 0; };
    const auto fetch = [&](const Walk& frame, int channel) {
      const int top = frame.first_row() + of_two;
      const float* const from =
          input + ((frame.image() * kChannels + channel) * kHeight + top) * static_cast<long long>(kWidth) + x;
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        const bool there = static_cast<unsigned>(top + 2 * i) < static_cast<unsigned>(kHeight) && row_there(i);
        held[channel][2 * i] = load_pair(from + 2 * i * kWidth, there && first_inside);
        held[channel][2 * i + 1] = load_pair(from + 2 * i * kWidth + 2, there && second_inside);
      }
    };
#pragma unroll
    for (int channel = 0; channel < kChannels; ++channel) fetch(walk, channel);
    Walk next = walk;
    next.next_frame();
    int turn = 0;
#pragma unroll 1
    while (!walk.done()) {
      unsigned largest = 0;
#pragma unroll
      for (int channel = 0; channel < kChannels; ++channel) {
#pragma unroll
        for (int i = 0; i < 2 * kLoads; ++i) {
          largest = max(largest, max(held[channel][i].x & 0x7fffffffu, held[channel][i].y & 0x7fffffffu));
        }
      }
      largest = __reduce_max_sync(0xffffffffu, largest);
      if (lane == 0) largest_of[turn][warp - 8] = largest;
      asm volatile("bar.sync 1, 128;" ::: "memory");
      largest = max(max(largest_of[turn][0], largest_of[turn][1]), max(largest_of[turn][2], largest_of[turn][3]));
      turn ^= 1;
      const float scale = power_of_two(scale_exponent(largest));
#pragma unroll
      for (int channel = 0; channel < kChannels; ++channel) {
        wait(empty + 8 * unit, phase ^ 1);
        const unsigned to = units + unit * kUnitStride + of_two * kPitch + quad * 16;
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
          const uint4 halves = split(held[channel][2 * i], held[channel][2 * i + 1], scale);
          if (quad < kRowQuads && row_there(i)) write_quad(to + 2 * i * kPitch, halves);
        }
        if (channel == 0 && thread == 0) unscale_of[unit] = power_of_two(-scale_exponent(largest));
        arrive(ready + 8 * unit, lane);
        if (++unit == kUnits) unit = 0, phase ^= 1;
        if (!next.done()) fetch(next, channel);
      }
      walk = next;
      if (!next.done()) next.next_frame();
    }
  } else {  // two warpgroups that multiply, a row of the convolution each
    asm volatile("setmaxnreg.inc.sync.aligned.u32 192;");
    const bool second = warp >= 4;
    const int of_four = lane % 4, place = lane / 4;
    // Which column of pooled elements a row of the product stands for: neighbours lie in different banks.
    const int slot = (place & 3) << 1 | place >> 2, after = (slot + 1) & 7;
    const int source = (after >> 1 | (after & 1) << 2) * 4 + of_four;
    const int pooled_x = warp % 4 * 7 + slot;
    const bool mine = slot < 7 && pooled_x < kPooledWidth;
    const int even = min(2 * pooled_x, kOutWidth - 1), odd = min(2 * pooled_x + 1, kOutWidth - 1);
    const unsigned my_columns = even * 16 + (second ? kStride * kPitch : 0), to_odd = (odd - even) * 16;
    const int rest = of_four < kRest ? of_four : 0;  // of what is left over a lane has a quad
    const unsigned long long filters_at = (filters & 0x3ffff) >> 4 | 8ull << 16 | 16ull << 32;
    const unsigned my_handed = handed + threadIdx.x % 128 * 4;
    int handed_phase = 0;
    float kept[24] = {};  // of the row that the next window begins with
    wait(filters_full, 0);
    for (; !walk.done(); walk.next_frame()) {
      const auto release = [&]() {
        arrive(empty + 8 * unit, lane);
        if (++unit == kUnits) unit = 0, phase ^= 1;
      };
      if (!second && walk.begins) {
        for (int channel = 0; channel < kChannels; ++channel) {
          wait(ready + 8 * unit, phase);
          release();
        }
        continue;
      }
      unsigned base[kChannels];
      int next_unit = unit, next_phase = phase;
#pragma unroll
      for (int channel = 0; channel < kChannels; ++channel) {
        base[channel] = units + next_unit * kUnitStride + my_columns;
        wait(ready + 8 * next_unit, next_phase);
        if (++next_unit == kUnits) next_unit = 0, next_phase ^= 1;
      }
      const float unscale = unscale_of[unit];
      float sums[48];
      unsigned group[3][kQuads + 1][4];
      // Reads a group of four rows, or what is left over after the last one.
      const auto read_group = [&](int number, unsigned (&to)[kQuads + 1][4]) {
        const int first = number * 4 / kKernelHeight, y = number * 4 % kKernelHeight;
        if (number < kGroups) {
          unsigned at = base[first] + (y + of_four) * kPitch;
          if (y + 3 >= kKernelHeight && y + of_four >= kKernelHeight) {
            at = base[first + 1 < kChannels ? first + 1 : first] + (y + of_four - kKernelHeight) * kPitch;
          }
#pragma unroll
          for (int q = 0; q < kQuads; ++q) read_quad(at + q * 16, to[q]);
          read_quad(at + (kQuads - 1) * 16 + to_odd, to[kQuads]);
        } else if (kRest > 0) {
          const unsigned at = base[kChannels - 1] + (kKernelHeight - kRows % 4 + rest / kQuads) * kPitch +
                              rest % kQuads * 16;
          read_quad(at, to[0]);
          read_quad(at + to_odd, to[1]);
        }
        // A channel's last row may have been read.
        if (y + 4 >= kKernelHeight) release();
      };
      read_group(0, group[0]);
#pragma unroll
      for (int g = 0; g < kAllGroups; ++g) {
        if (g + 1 < kAllGroups) read_group(g + 1, group[(g + 1) % 3]);
        __syncwarp();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int q = 0; q < (g < kGroups ? kQuads : 1); ++q) {
          const unsigned(&one)[4] = group[g % 3][q], (&two)[4] = group[g % 3][q + 1];
          const unsigned long long b = filters_at + (g * kQuads + q) * (kStepBytes / 16);
          multiply(sums, one[2], two[2], one[3], two[3], b, g > 0 || q > 0);
          multiply(sums, one[0], two[0], one[1], two[1], b + kHalvesBytes / 16, 1);
          multiply(sums, one[0], two[0], one[1], two[1], b, 1);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#pragma unroll
        for (int q = 0; g > 0 && q <= kQuads; ++q) settle(group[(g - 1) % 3][q]);
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int q = 0; q <= (kRest > 0 ? 1 : kQuads); ++q) settle(group[(kAllGroups - 1) % 3][q]);
      // The maximum of three neighbours.
      float row[24];
#pragma unroll
      for (int column = 0; column < 24; ++column) {
        const int at = column / 2 * 4 + column % 2;
        asm volatile("" : "+f"(sums[at]), "+f"(sums[at + 2])::"memory");
        const float next = __shfl_sync(0xffffffffu, sums[at], source);
        row[column] = fmaxf(fmaxf(sums[at], sums[at + 2]), next) * unscale;
      }
      if (!second) {
        wait(handed_empty, handed_phase ^ 1);
#pragma unroll
        for (int column = 0; column < 24; ++column) {
          asm volatile("st.shared.f32 [%0], %1;" ::"r"(my_handed + column * 512), "f"(row[column]) : "memory");
        }
        arrive(handed_full, lane);
        handed_phase ^= 1;
        continue;
      }
      if (!walk.begins) {
        wait(handed_full, handed_phase);
#pragma unroll
        for (int column = 0; column < 24; ++column) {
          float other;
          asm volatile("ld.shared.f32 %0, [%1];" : "=f"(other) : "r"(my_handed + column * 512) : "memory");
          kept[column] = fmaxf(fmaxf(kept[column], other), row[column]);
        }
        arrive(handed_empty, lane);
        handed_phase ^= 1;
        const size_t plane = static_cast<size_t>(walk.image()) * kFilters + of_four * 2;
        float* const to = output + (plane * kPooledHeight + walk.pooled()) * kPooledWidth + pooled_x;
#pragma unroll
        for (int pair = 0; pair < 12; ++pair) {
          const float4 c = *reinterpret_cast<const float4*>(coefficients + pair * 8 + of_four * 2);
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            const int filter = pair * 8 + i;  // and twice the lane of four
            const bool there = kFilters == kColumns || filter + of_four * 2 < kFilters;
            const float value = fmaxf(fmaf(kept[pair * 2 + i], i == 0 ? c.x : c.z, i == 0 ? c.y : c.w), 0.0f);
            if (mine && there) to[filter * (kPooledHeight * kPooledWidth)] = value;
          }
        }
      }
#pragma unroll
      for (int column = 0; column < 24; ++column) kept[column] = row[column];
    }
  }
}
