// What the oracle does to every byte of every trial, each in one pass over memory: guards, fills, checksums, the split
// of a float64 answer, and the judge's norms. Their meaning is fixed by fills.py, checksums.py and norms.py, which do
// the same with PyTorch's operators and are what these kernels are tested against. Compiled by NVRTC, no headers.

typedef unsigned long long u64;
typedef unsigned int u32;

#define GOLDEN 0x9E3779B97F4A7C15ull

// splitmix64's finaliser.
__device__ __forceinline__ u64 mix(u64 x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

struct Zone {  // guard | payload | guard
  u64 base;
  u64 before;   // bytes of the first guard, a multiple of 4
  u64 payload;  // bytes
  u64 total;    // bytes, a multiple of 4
};

// Bit 6 of each byte is clear: finite in every floating type.
__device__ __forceinline__ u32 guard_word(u64 key, u64 word) { return (u32)mix(key ^ (word * GOLDEN)) & 0xBFBFBFBFu; }

__device__ __forceinline__ u64 zone_key(u64 key, u32 zone) { return mix(key + (zone + 1) * GOLDEN); }

extern "C" __global__ void fill_guards(const Zone* zones, u64 key) {
  Zone zone = zones[blockIdx.y];
  u64 own = zone_key(key, blockIdx.y);
  u64 first = blockIdx.x * (u64)blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;
  u32* words = (u32*)zone.base;
  for (u64 word = first; word < zone.before / 4; word += step) words[word] = guard_word(own, word);
  u64 behind = zone.before + zone.payload;
  for (u64 word = behind / 4 + first; word < zone.total / 4; word += step) {
    u32 value = guard_word(own, word);
    if (word * 4 >= behind) {
      words[word] = value;
    } else {
      for (u64 byte = behind; byte < word * 4 + 4; ++byte) {
        ((unsigned char*)zone.base)[byte] = (unsigned char)(value >> (8 * (byte & 3)));
      }
    }
  }
}

// found[4 * zone + 0..3]: wrong bytes in the first guard; one past the last of them; wrong bytes in the second guard;
// the first of them (all ones where there is none). Offsets in bytes from the base.
__device__ void look_at_word(u64 word, u32 seen, u32 wanted, u64 from, u64* count, u64* edge, bool last) {
  if (seen == wanted) return;
  for (u32 byte = 0; byte < 4; ++byte) {
    u64 offset = word * 4 + byte;
    if (offset < from || ((seen ^ wanted) >> (8 * byte) & 0xFF) == 0) continue;
    atomicAdd(count, 1ull);
    if (last) {
      atomicMax(edge, offset + 1);
    } else {
      atomicMin(edge, offset);
    }
  }
}

extern "C" __global__ void check_guards(const Zone* zones, u64 key, u64* found) {
  Zone zone = zones[blockIdx.y];
  u64 own = zone_key(key, blockIdx.y);
  u64 first = blockIdx.x * (u64)blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;
  const u32* words = (const u32*)zone.base;
  u64* result = found + 4 * blockIdx.y;
  for (u64 word = first; word < zone.before / 4; word += step) {
    look_at_word(word, words[word], guard_word(own, word), 0, result, result + 1, true);
  }
  u64 behind = zone.before + zone.payload;
  for (u64 word = behind / 4 + first; word < zone.total / 4; word += step) {
    look_at_word(word, words[word], guard_word(own, word), behind, result + 2, result + 3, false);
  }
}

// A pattern of 16 bytes over `bytes` bytes at a multiple of 16.
extern "C" __global__ void fill_pattern(u64 base, u64 bytes, u64 low, u64 high) {
  u64 first = blockIdx.x * (u64)blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;
  ulonglong2* wide = (ulonglong2*)base;
  for (u64 i = first; i < bytes / 16; i += step) wide[i] = make_ulonglong2(low, high);
  if (first < bytes % 16) {
    u64 word = first < 8 ? low : high;
    ((unsigned char*)base)[bytes / 16 * 16 + first] = (unsigned char)(word >> (8 * (first & 7)));
  }
}

__device__ __forceinline__ u64 term(u64 word, u64 key, u64 index) { return mix(word ^ (key + (index + 1) * GOLDEN)); }

struct Span {
  u64 base;  // a multiple of 16
  u64 bytes;
};

// sums[span] += the checksum of a span; the sum wraps and so does not depend on the order.
extern "C" __global__ void checksum(const Span* spans, u64 key, u64* sums) {
  Span span = spans[blockIdx.y];
  u64 first = blockIdx.x * (u64)blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;
  u64 whole = span.bytes / 16;
  const ulonglong2* wide = (const ulonglong2*)span.base;
  u64 sum = 0;
  u64 i = first;
  for (; i + 3 * step < whole; i += 4 * step) {
    ulonglong2 a = wide[i], b = wide[i + step], c = wide[i + 2 * step], d = wide[i + 3 * step];
    sum += term(a.x, key, 2 * i) + term(a.y, key, 2 * i + 1);
    sum += term(b.x, key, 2 * (i + step)) + term(b.y, key, 2 * (i + step) + 1);
    sum += term(c.x, key, 2 * (i + 2 * step)) + term(c.y, key, 2 * (i + 2 * step) + 1);
    sum += term(d.x, key, 2 * (i + 3 * step)) + term(d.y, key, 2 * (i + 3 * step) + 1);
  }
  for (; i < whole; i += step) {
    ulonglong2 a = wide[i];
    sum += term(a.x, key, 2 * i) + term(a.y, key, 2 * i + 1);
  }
  u64 rest = span.bytes % 16;
  if (first == 0 && rest != 0) {
    const unsigned char* tail = (const unsigned char*)span.base + whole * 16;
    for (u64 start = 0; start < rest; start += 8) {
      u64 word = 0;
      for (u64 byte = start; byte < rest && byte < start + 8; ++byte) word |= (u64)tail[byte] << (8 * (byte - start));
      sum += term(word, key, 2 * whole + start / 8);
    }
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, lane);
  if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(sums + blockIdx.y, sum);
}

struct Figures {
  double squares;         // of the error
  double largest;         // error
  double worst_tile;      // mean square of a tile's error over its answer's
  double answer_squares;  // of the answer's finite elements
  double answer_peak;
  u64 worst;              // index of the largest error
  u64 poison_count, poison_first;
  u64 misplaced_count, misplaced_first;
  u64 loose_count;  // elements that fail allclose
  u64 over_maximum, over_rms;
};

#define NONE 0xFFFFFFFFFFFFFFFFull

__device__ __forceinline__ Figures no_figures() {
  Figures f;
  f.squares = f.largest = f.worst_tile = f.answer_squares = f.answer_peak = 0;
  f.worst = NONE;
  f.poison_count = f.misplaced_count = f.loose_count = f.over_maximum = f.over_rms = 0;
  f.poison_first = f.misplaced_first = NONE;
  return f;
}

__device__ __forceinline__ void join(Figures& a, const Figures& b) {
  a.squares += b.squares;
  if (b.largest > a.largest || (b.largest == a.largest && b.worst < a.worst)) {
    a.largest = b.largest;
    a.worst = b.worst;
  }
  a.worst_tile = b.worst_tile > a.worst_tile ? b.worst_tile : a.worst_tile;
  a.answer_squares += b.answer_squares;
  a.answer_peak = b.answer_peak > a.answer_peak ? b.answer_peak : a.answer_peak;
  a.poison_count += b.poison_count;
  a.poison_first = b.poison_first < a.poison_first ? b.poison_first : a.poison_first;
  a.misplaced_count += b.misplaced_count;
  a.misplaced_first = b.misplaced_first < a.misplaced_first ? b.misplaced_first : a.misplaced_first;
  a.loose_count += b.loose_count;
  a.over_maximum += b.over_maximum;
  a.over_rms += b.over_rms;
}

// The block's figures, in its first thread; always joined in the same order. Called once a block: kept small, not fast.
__device__ __noinline__ void join_block(Figures mine, Figures* out) {
  __shared__ Figures warps[32];
#pragma unroll 1
  for (int lane = 16; lane > 0; lane /= 2) {
    Figures other;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(Figures) / 8); ++i) {
      ((u64*)&other)[i] = __shfl_xor_sync(0xFFFFFFFFu, ((const u64*)&mine)[i], lane);
    }
    join(mine, other);
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (u32 warp = 1; warp < blockDim.x / 32; ++warp) join(mine, warps[warp]);
    *out = mine;
  }
}

__device__ __forceinline__ bool is_finite(double x) {
  return (__double2hiint(x) & 0x7FF00000) != 0x7FF00000;
}

// residual = answer - own, and the answer's own figures: of its finite elements, as norms.finite_scale has it, and how
// many elements are finite in one and not in the other (misplaced).
extern "C" __global__ void split_answer(const double* answer, const float* own, u64 count, float* residual,
                                        Figures* partial) {
  Figures mine = no_figures();
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += step) {
    double value = answer[i], run = (double)own[i];
    residual[i] = (float)(value - run);
    if (is_finite(value) != is_finite(run)) ++mine.misplaced_count;
    if (is_finite(value)) {
      mine.answer_squares += value * value;
      mine.answer_peak = fmax(mine.answer_peak, fabs(value));
    }
  }
  join_block(mine, partial + blockIdx.x);
}

struct Rules {
  u32 poison;        // an unwritten element's bits
  u32 check_poison;  // 0: outputs were not poisoned
  u32 check_loose;   // 0: no allclose verdict wanted
  float tolerance;   // absolute and relative
  double tile_floor;     // a tile's mean square counts as no less
  double over_maximum;   // errors above it are counted
  double over_rms;
};

// One warp a tile of 256 elements. residual may be null: the answer is PyTorch's own run.
extern "C" __global__ void judge(const float* got, const float* own, const float* residual, u64 count, Rules rules,
                                 Figures* partial) {
  Figures mine = no_figures();
  u32 lane = threadIdx.x % 32;
  u64 tiles = (count + 255) / 256;
  u64 step = (u64)gridDim.x * (blockDim.x / 32);
  for (u64 tile = blockIdx.x * (u64)(blockDim.x / 32) + threadIdx.x / 32; tile < tiles; tile += step) {
    u64 start = tile * 256;
    u64 width = count - start < 256 ? count - start : 256;
    __align__(16) float g[8], o[8], r[8];
    if (width == 256) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        u64 at = start + half * 128 + lane * 4;
        *(float4*)(g + 4 * half) = *(const float4*)(got + at);
        *(float4*)(o + 4 * half) = *(const float4*)(own + at);
        float4 zero = make_float4(0, 0, 0, 0);
        *(float4*)(r + 4 * half) = residual != nullptr ? *(const float4*)(residual + at) : zero;
      }
    } else {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        u64 at = (j / 4) * 128 + lane * 4 + j % 4;
        bool inside = at < width;
        g[j] = inside ? got[start + at] : 0.0f;
        o[j] = inside ? own[start + at] : 0.0f;
        r[j] = inside && residual != nullptr ? residual[start + at] : 0.0f;
      }
    }
    double error_squares = 0, answer_squares = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      u64 offset = (j / 4) * 128 + lane * 4 + j % 4;
      if (offset >= width) continue;
      u64 index = start + offset;
      u32 got_bits = __float_as_uint(g[j]), own_bits = __float_as_uint(o[j]);
      if (rules.check_poison && got_bits == rules.poison) {
        ++mine.poison_count;
        mine.poison_first = index < mine.poison_first ? index : mine.poison_first;
      }
      u32 got_size = got_bits & 0x7FFFFFFFu, own_size = own_bits & 0x7FFFFFFFu;
      bool got_nan = got_size > 0x7F800000u, own_nan = own_size > 0x7F800000u;
      bool got_inf = got_size == 0x7F800000u, own_inf = own_size == 0x7F800000u;
      if (got_nan != own_nan || got_inf != own_inf || (got_inf && got_bits != own_bits)) {
        ++mine.misplaced_count;
        mine.misplaced_first = index < mine.misplaced_first ? index : mine.misplaced_first;
      }
      if (rules.check_loose) {
        float gap = fabsf(__fsub_rn(g[j], o[j]));
        float allowed = __fadd_rn(fabsf(__fmul_rn(rules.tolerance, o[j])), rules.tolerance);
        bool near = g[j] == o[j] || (got_nan && own_nan) || (gap < __uint_as_float(0x7F800000u) && gap <= allowed);
        if (!near) ++mine.loose_count;
      }
      double answer = (double)o[j] + (double)r[j];
      double error = fabs((double)g[j] - answer);
      if (!is_finite(error)) continue;
      error_squares += error * error;
      answer_squares += answer * answer;
      if (error > mine.largest) {
        mine.largest = error;
        mine.worst = index;
      }
      if (error > rules.over_maximum) ++mine.over_maximum;
      if (error > rules.over_rms) ++mine.over_rms;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      error_squares += __shfl_xor_sync(0xFFFFFFFFu, error_squares, distance);
      answer_squares += __shfl_xor_sync(0xFFFFFFFFu, answer_squares, distance);
    }
    if (lane == 0 && error_squares > 0) {
      mine.squares += error_squares;
      double level = answer_squares / (double)width;
      double ratio = (error_squares / (double)width) / (level > rules.tile_floor ? level : rules.tile_floor);
      mine.worst_tile = fmax(mine.worst_tile, ratio);
    }
  }
  join_block(mine, partial + blockIdx.x);
}

extern "C" __global__ void join_figures(const Figures* partial, u32 count, Figures* result) {
  Figures mine = no_figures();
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) join(mine, partial[i]);
  join_block(mine, result);
}
