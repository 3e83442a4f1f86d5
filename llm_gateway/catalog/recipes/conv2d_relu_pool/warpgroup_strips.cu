/* warpsmith-plan
{"version": 1, "min_arch": "sm_90a",
 "scratch": [{"name": "largest", "dtype": "int32", "shape": [1]},
             {"name": "packed", "dtype": "float16", "shape": [@{packed}]}],
 "steps": [
   {"kernel": "pack_weights", "grid": [@{pack_blocks}], "block": [512], "args": ["@{weight}", "largest", "packed"]},
   {"kernel": "convolve_pool", "grid": ["min(sm_count, @{pooled_rows})"], "block": [256], "shared_bytes": @{shared},
    "args": ["@{input}", "packed", "@{bias}", "largest", "output"]}]}
*/
// Convolution as a product of patches and filters by warpgroup products, then bias, rectifier and maximum pool of 3 with
// stride 2. A block walks down pooled rows: each one adds two rows of the convolution to one that is kept in registers.
// One warpgroup brings input rows, padded, and finds their largest magnitude; the other one multiplies and pools.
// Fragments of patches are read straight out of the rows and split on the way into two halves whose sum is the float32
// value. Filters, split as well, stay in
// shared memory. Of the four products of two such sums the three that matter are added. While the tensor cores work on
// one row of the convolution, the CUDA cores pool the last one.
#include <cuda_fp16.h>

constexpr int kBatch = @{batch}, kChannels = @{channels}, kHeight = @{height}, kWidth = @{width};
constexpr int kFilters = @{filters}, kKernelHeight = @{kernel_height}, kKernelWidth = @{kernel_width};
constexpr int kStride = 4, kPadding = @{padding};
constexpr int kOutWidth = @{out_width};  // of the convolution
constexpr int kPooledHeight = @{pooled_height}, kPooledWidth = @{pooled_width};
constexpr int kPooledRows = kBatch * kPooledHeight;
// Four neighbouring columns, a quad, are what a lane reads at once.
constexpr int kQuads = (kKernelWidth + 3) / 4;       // of a filter's row
constexpr int kRows = kChannels * kKernelHeight;     // of a filter
constexpr int kGroups = kRows / 4;                   // of four rows, one for each lane of four; kQuads steps of 16
constexpr int kRest = kRows % 4 * kQuads;            // quads left over, one for each lane
constexpr int kRestSteps = (kRest + 3) / 4;
constexpr int kSteps = kGroups * kQuads + kRestSteps;
constexpr int kColumns = 96;                         // filters of a product
constexpr int kStepBytes = kColumns * 32;
constexpr int kRowQuads = @{row_quads}, kPitch = kRowQuads * 16;  // of an input row; odd, against bank conflicts
constexpr int kUnitRows = @{unit_rows};               // input rows for two rows of the convolution, of one channel
constexpr int kUnitBytes = kUnitRows * kPitch, kUnitStride = (kUnitBytes + 127) / 128 * 128;
constexpr int kUnits = @{UNITS};
constexpr int kUnitQuads = kUnitRows * kRowQuads, kLoads = (kUnitQuads + 127) / 128;
static_assert(kPadding % 2 == 0 && kWidth % 2 == 0, "two columns are both inside or both outside");
static_assert(kUnitRows == kStride + kKernelHeight, "two rows of the convolution");
static_assert(kRestSteps <= 1, "one step for what is left over");

// The power of two that brings a matrix's largest magnitude to [2^13, 2^14): halves hold what is 2^38 times smaller.
__device__ __forceinline__ int scale_exponent(unsigned largest) {
  const int exponent = static_cast<int>(largest >> 23) - 127;
  return 13 - (exponent < -100 ? -100 : exponent);
}

__device__ __forceinline__ float power_of_two(int exponent) { return __int_as_float((127 + exponent) << 23); }

// For each step and each eight filters two matrices of 8 filters by 8 elements, the second parts after all first ones.
__global__ void __launch_bounds__(512)
    pack_weights(const float* __restrict__ weight, unsigned* __restrict__ largest, __half* __restrict__ packed) {
  __shared__ unsigned of_block;
  constexpr int kCount = kFilters * kRows * kKernelWidth;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  unsigned of_thread = 0;
  // Without their sign, the bits of floats are ordered as the floats are.
#pragma unroll 17
  for (int i = threadIdx.x; i < kCount / 4; i += 512) {
    const uint4 v = reinterpret_cast<const uint4*>(weight)[i];
    const unsigned of_two = max(v.z & 0x7fffffffu, v.w & 0x7fffffffu);
    of_thread = max(max(of_thread, v.x & 0x7fffffffu), max(v.y & 0x7fffffffu, of_two));
  }
  if (static_cast<int>(threadIdx.x) < kCount % 4) {
    of_thread = max(of_thread, __float_as_uint(weight[kCount / 4 * 4 + threadIdx.x]) & 0x7fffffffu);
  }
  of_thread = __reduce_max_sync(0xffffffffu, of_thread);
  if (threadIdx.x % 32 == 0) atomicMax(&of_block, of_thread);
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *largest = of_block;
  const int index = blockIdx.x * 512 + threadIdx.x;
  if (index >= kSteps * kColumns * 16) return;
  const int filter = index / 16 % kColumns, element = index % 16, step = index / (16 * kColumns);
  const int lane = element % 8 / 2;
  int row, quad;
  bool valid = filter < kFilters;
  if (step < kGroups * kQuads) {
    row = step / kQuads * 4 + lane;
    quad = step % kQuads;
  } else {
    row = kGroups * 4 + lane / kQuads;
    quad = lane % kQuads;
    valid = valid && lane < kRest;
  }
  const int column = quad * 4 + element % 2 + element / 8 * 2;
  float value = 0.0f;
  if (valid && column < kKernelWidth) {
    value = weight[(filter * kRows + row) * kKernelWidth + column] * power_of_two(scale_exponent(of_block));
  }
  const int at = step * kColumns * 16 + (filter / 8 * 2 + element / 8) * 64 + filter % 8 * 8 + element % 8;
  const __half large = __float2half_rn(value);
  packed[at] = large;
  packed[kSteps * kColumns * 16 + at] = __float2half_rn(value - __half2float(large));
}

__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  }
}

__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ uint4 read_quad(unsigned address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address));
  return v;
}

__device__ __forceinline__ void write_quad(unsigned address, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
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

// A quad's first parts and second parts, in pairs. The first part is cut off, not rounded: the rest is exact.
struct Parts {
  unsigned large[2], small[2];
};

__device__ __forceinline__ Parts split(uint4 quad, float scale) {
  const unsigned bits[4] = {quad.x, quad.y, quad.z, quad.w};
  float large[4], small[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float value = __uint_as_float(bits[i]) * scale;
    large[i] = __uint_as_float(__float_as_uint(value) & 0xffffe000u);
    small[i] = value - large[i];
  }
  Parts parts;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const __half2 l = __floats2half2_rn(large[2 * i], large[2 * i + 1]);
    const __half2 s = __floats2half2_rn(small[2 * i], small[2 * i + 1]);
    parts.large[i] = *reinterpret_cast<const unsigned*>(&l);
    parts.small[i] = *reinterpret_cast<const unsigned*>(&s);
  }
  return parts;
}

__device__ __forceinline__ void settle(Parts& parts) {
  asm volatile("" : "+r"(parts.large[0]), "+r"(parts.large[1]), "+r"(parts.small[0]), "+r"(parts.small[1])::"memory");
}

// What a block does, one row of the convolution after the other. A frame is the input for two of them, of which the
// second begins the next pooled row; before an image's first row, and the block's first one, that second row alone.
struct Walk {
  int row, last;  // pooled rows of all images
  bool begins;    // the frame before the pooled row
  bool second;    // of the frame's two rows

  __device__ __forceinline__ Walk() {
    row = static_cast<int>(static_cast<long long>(blockIdx.x) * kPooledRows / gridDim.x);
    last = static_cast<int>(static_cast<long long>(blockIdx.x + 1) * kPooledRows / gridDim.x);
    begins = second = true;
  }
  __device__ __forceinline__ bool done() const { return row == last; }
  __device__ __forceinline__ void next_frame() {
    if (begins) {
      begins = second = false;
    } else {
      ++row;
      begins = second = row % kPooledHeight == 0;
    }
  }
  __device__ __forceinline__ int image() const { return row / kPooledHeight; }
  __device__ __forceinline__ int pooled() const { return row % kPooledHeight; }
  __device__ __forceinline__ int first_input_row() const {
    return ((pooled() - (begins ? 1 : 0)) * 2 + 1) * kStride - kPadding;
  }
};

// Columns 2X (first pair of sums) and 2X + 1 of a row of the convolution join the window, or end it and begin the next.
struct Pool {
  float kept[48];   // maxima of the window's rows so far
  float fresh[48];  // the row that joins, still scaled
  float unscale, unscale_weight;
  bool ends, writes;
  float* to;

  __device__ __forceinline__ void join(int column, int source, bool mine, const float* bias) {
    const int at = column / 2 * 4 + column % 2;
    const float even = fresh[at] * unscale * unscale_weight, odd = fresh[at + 2] * unscale * unscale_weight;
    if (!ends) {
      kept[at] = fmaxf(kept[at], even);
      kept[at + 2] = fmaxf(kept[at + 2], odd);
      return;
    }
    if (writes) {
      const float of_even = fmaxf(kept[at], even);
      const float next = __shfl_sync(0xffffffffu, of_even, source);
      const float maximum = fmaxf(fmaxf(of_even, next), fmaxf(kept[at + 2], odd));
      const int filter = column / 2 * 8 + column % 2;  // and twice the lane of four, which `to` and `bias` know
      const bool there = kFilters == kColumns || filter + static_cast<int>(threadIdx.x % 4) * 2 < kFilters;
      if (mine && there) to[filter * (kPooledHeight * kPooledWidth)] = fmaxf(maximum + bias[filter], 0.0f);
    }
    kept[at] = even;
    kept[at + 2] = odd;
  }
};

__global__ void __launch_bounds__(256, 1)
    convolve_pool(const float* __restrict__ input, const uint4* __restrict__ packed, const float* __restrict__ bias,
                  const unsigned* __restrict__ largest, float* __restrict__ output) {
  extern __shared__ __align__(128) char memory[];
  __shared__ __align__(8) unsigned long long barriers[2 * kUnits];
  __shared__ unsigned largest_of[kUnits][4];
  __shared__ float biases[kColumns];
  const unsigned filters = (static_cast<unsigned>(__cvta_generic_to_shared(memory)) + 127u) & ~127u;
  const unsigned units = filters + 2 * kSteps * kStepBytes;
  const unsigned ready = static_cast<unsigned>(__cvta_generic_to_shared(barriers)), empty = ready + 8 * kUnits;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kUnits; ++i) {
      asm volatile("mbarrier.init.shared.b64 [%0], 4;" ::"r"(ready + 8 * i));
      asm volatile("mbarrier.init.shared.b64 [%0], 4;" ::"r"(empty + 8 * i));
    }
  }
  if (threadIdx.x < kColumns) biases[threadIdx.x] = threadIdx.x < kFilters ? bias[threadIdx.x] : 0.0f;
#pragma unroll 20
  for (int i = threadIdx.x; i < 2 * kSteps * kStepBytes / 16; i += 256) {
    const uint4 v = packed[i];
    write_quad(filters + i * 16, v);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  Walk walk;
  int unit = 0, phase = 0;
  if (warp >= 4) {  // brings input rows, a unit in registers while the one before is multiplied
    const int thread = threadIdx.x - 128;
    int offset[kLoads], row_of[kLoads];
    unsigned inside = 0;  // two bits a quad: its pairs of columns
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int quad = thread + i * 128, x = quad % kRowQuads * 4 - kPadding;
      row_of[i] = quad < kUnitQuads ? quad / kRowQuads : -kHeight - kUnitRows * 4;
      offset[i] = quad / kRowQuads * kWidth + x;
      if (x >= 0 && x < kWidth) inside |= 1u << (2 * i);
      if (x + 2 >= 0 && x + 2 < kWidth) inside |= 2u << (2 * i);
    }
    for (; !walk.done(); walk.next_frame()) {
      const int first = walk.first_input_row();
      for (int channel = 0; channel < kChannels; ++channel) {
        const long long first_row = static_cast<long long>(walk.image() * kChannels + channel) * kHeight + first;
        const float* const plane = input + first_row * kWidth;
        uint2 value[kLoads][2];
        unsigned of_thread = 0;
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
          const bool row = first + row_of[i] >= 0 && first + row_of[i] < kHeight;
#pragma unroll
          for (int p = 0; p < 2; ++p) {
            value[i][p] = make_uint2(0, 0);
            if (row && (inside >> (2 * i + p) & 1) != 0) {
              value[i][p] = __ldg(reinterpret_cast<const uint2*>(plane + offset[i] + 2 * p));
            }
          }
        }
        wait(empty + 8 * unit, phase ^ 1);
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
          const uint4 quad = make_uint4(value[i][0].x, value[i][0].y, value[i][1].x, value[i][1].y);
          if (thread + i * 128 < kUnitQuads) write_quad(units + unit * kUnitStride + (thread + i * 128) * 16, quad);
          of_thread = max(max(of_thread, quad.x & 0x7fffffffu),
                          max(quad.y & 0x7fffffffu, max(quad.z & 0x7fffffffu, quad.w & 0x7fffffffu)));
        }
        of_thread = __reduce_max_sync(0xffffffffu, of_thread);
        __syncwarp();
        if (lane == 0) {
          largest_of[unit][warp - 4] = of_thread;
          arrive(ready + 8 * unit);
        }
        if (++unit == kUnits) unit = 0, phase ^= 1;
      }
    }
  } else {  // multiply and pool
    const int of_four = lane % 4, place = lane / 4;
    // Which column of pooled elements a row of the product stands for: neighbours two apart lie in different banks.
    const int slot = (place & 4) | ((place & 1) << 1) | ((place >> 1) & 1);
    const int after = slot + 1, source = (((after & 4) | ((after & 1) << 1) | ((after >> 1) & 1)) & 7) * 4 + of_four;
    const int pooled_x = warp * 7 + slot;
    const bool mine = slot < 7 && pooled_x < kPooledWidth;
    const int even = min(2 * pooled_x, kOutWidth - 1), odd = min(2 * pooled_x + 1, kOutWidth - 1);
    const float* const my_bias = biases + of_four * 2;
    // The lane's row of a group of four, and where its columns begin; what is left over goes by quads.
    const unsigned my_even = even * 16, to_odd = (odd - even) * 16;
    const int rest = of_four < kRest ? of_four : 0;
    const unsigned long long filters_at =
        (static_cast<unsigned long long>((filters & 0x3ffff) >> 4)) | (8ull << 16) | (16ull << 32);
    const float unscale_weight = power_of_two(-scale_exponent(*largest));
    float sums[48];
    Pool pool;
#pragma unroll
    for (int i = 0; i < 48; ++i) sums[i] = pool.kept[i] = pool.fresh[i] = 0.0f;
    pool.unscale = 0.0f;
    pool.unscale_weight = unscale_weight;
    pool.ends = pool.writes = false;
    pool.to = output;
    Parts group[2][kQuads + 1], left[2];
    uint4 raw[kQuads + 1];
    unsigned base[kChannels];
    float scale = 0.0f;

    const auto arrives = [&]() {  // the frame's input
      unsigned of_frame = 0;
      int u = unit, p = phase;
#pragma unroll
      for (int channel = 0; channel < kChannels; ++channel) {
        wait(ready + 8 * u, p);
        of_frame = max(of_frame, max(max(largest_of[u][0], largest_of[u][1]), max(largest_of[u][2], largest_of[u][3])));
        base[channel] = units + u * kUnitStride;
        if (++u == kUnits) u = 0, p ^= 1;
      }
      scale = power_of_two(scale_exponent(of_frame));
    };
    const auto address = [&](int number, int shift) {  // of the lane's row of a group
      const int first = number * 4 / kKernelHeight, y = number * 4 % kKernelHeight;
      unsigned at = base[first] + (y + of_four) * kPitch;
      if (y + 3 >= kKernelHeight && y + of_four >= kKernelHeight) {
        at = base[first + 1 < kChannels ? first + 1 : first] + (y + of_four - kKernelHeight) * kPitch;
      }
      return at + shift;
    };
    const auto read_group = [&](int number) {
      const unsigned at = address(number, my_even + (walk.second ? kStride * kPitch : 0));
#pragma unroll
      for (int q = 0; q < kQuads; ++q) raw[q] = read_quad(at + q * 16);
      raw[kQuads] = read_quad(at + (kQuads - 1) * 16 + to_odd);
    };

    arrives();
    read_group(0);
#pragma unroll
    for (int q = 0; q <= kQuads; ++q) group[0][q] = split(raw[q], scale);
    while (true) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        __syncwarp();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int q = 0; q < kQuads; ++q) {
          const Parts &one = group[g % 2][q], &two = group[g % 2][q + 1];
          const unsigned long long b = filters_at + (g * kQuads + q) * (kStepBytes / 16);
          multiply(sums, one.small[0], two.small[0], one.small[1], two.small[1], b, g > 0 || q > 0);
          multiply(sums, one.large[0], two.large[0], one.large[1], two.large[1], b + kSteps * (kStepBytes / 16), 1);
          multiply(sums, one.large[0], two.large[0], one.large[1], two.large[1], b, 1);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#pragma unroll
        for (int column = 0; column < 24; ++column) {
          if (column * kGroups / 24 == g) pool.join(column, source, mine, my_bias);
        }
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#pragma unroll
        for (int q = 0; q <= kQuads; ++q) settle(group[(g + 1) % 2][q]);
        if (g + 1 < kGroups) {
          read_group(g + 1);
        } else if (kRest > 0) {
          const unsigned at = base[kChannels - 1] + (kKernelHeight - kRows % 4 + rest / kQuads) * kPitch +
                              rest % kQuads * 16 + my_even + (walk.second ? kStride * kPitch : 0);
          raw[0] = read_quad(at);
          raw[1] = read_quad(at + to_odd);
        }
        if (g + 1 < kGroups) {
#pragma unroll
          for (int q = 0; q <= kQuads; ++q) group[(g + 1) % 2][q] = split(raw[q], scale);
        } else if (kRest > 0) {
          left[0] = split(raw[0], scale);
          left[1] = split(raw[1], scale);
        }
        // A channel's rows have been read for the last time.
        if (walk.second) {
          __syncwarp();
#pragma unroll
          for (int channel = 0; channel < kChannels; ++channel) {
            const int last_group = ((channel + 1) * kKernelHeight - 1) / 4;
            if ((last_group < kGroups ? last_group : kGroups) == g + 1 || (g == 0 && last_group == 0)) {
              if (lane == 0) arrive(empty + 8 * unit);
              if (++unit == kUnits) unit = 0, phase ^= 1;
            }
          }
        }
      }
      if (kRest > 0) {
        __syncwarp();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        const unsigned long long b = filters_at + kGroups * kQuads * (kStepBytes / 16);
        multiply(sums, left[0].small[0], left[1].small[0], left[0].small[1], left[1].small[1], b, 1);
        multiply(sums, left[0].large[0], left[1].large[0], left[0].large[1], left[1].large[1],
                 b + kSteps * (kStepBytes / 16), 1);
        multiply(sums, left[0].large[0], left[1].large[0], left[0].large[1], left[1].large[1], b, 1);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      }
      const float unscale = 1.0f / scale;
      const bool ends = walk.second, writes = walk.second && !walk.begins;
      const size_t plane = static_cast<size_t>(walk.image()) * kFilters + of_four * 2;
      float* const to = output + (plane * kPooledHeight + walk.pooled()) * kPooledWidth + pooled_x;
      if (walk.second) {
        walk.next_frame();
        if (!walk.done()) arrives();
      } else {
        walk.second = true;
      }
      if (!walk.done()) {
        read_group(0);
        if (kGroups % 2 == 1) {  // the last group is still being read where the next one's first shall lie
          asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kRest > 0 ? 1 : 0) : "memory");
#pragma unroll
          for (int q = 0; q <= kQuads; ++q) settle(group[0][q]);
        }
#pragma unroll
        for (int q = 0; q <= kQuads; ++q) group[0][q] = split(raw[q], scale);
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int q = 0; q <= kQuads; ++q) settle(group[(kGroups + 1) % 2][q]);
      settle(left[0]);
      settle(left[1]);
#pragma unroll
      for (int i = 0; i < 48; ++i) {
        asm volatile("" : "+f"(sums[i])::"memory");
        pool.fresh[i] = sums[i];
      }
      pool.unscale = unscale;
      pool.ends = ends;
      pool.writes = writes;
      pool.to = to;
      if (walk.done()) break;
    }
#pragma unroll
    for (int column = 0; column < 24; ++column) pool.join(column, source, mine, my_bias);
  }
}
