/* warpsmith-plan
{"version": 1, "min_arch": "sm_80", "scratch": [],
 "steps": [{"kernel": "attention", "grid": [@{query_tiles}, @{heads_in_all}], "block": ["@{WARPS} * 32"], "shared_bytes": @{shared},
            "args": ["@{query}", "@{key}", "@{value}", "output"]}]}
*/
// A warp keeps 16 queries, their scores and their sums in registers as fragments of warp products; keys and values come
// through shared memory, the next tile's by asynchronous copies. Keys beyond the last one get no weight.
#include <cuda_fp16.h>

// 1 / sqrt(value), by Newton's method.
__device__ constexpr float inverse_root(double value) {
  double guess = 1.0 / value;
  for (int i = 0; i < 40; ++i) guess *= 1.5 - 0.5 * value * guess * guess;
  return static_cast<float>(guess);
}

constexpr int kQueries = @{queries}, kKeys = @{keys}, kDimension = @{dimension};
constexpr int kWarps = @{WARPS}, kTile = @{KEYS};  // keys of a tile
constexpr int kPitch = kDimension + 8;             // in halves; sixteen bytes more, against bank conflicts
constexpr int kTileHalves = kTile * kPitch;
constexpr int kSteps = (kKeys + kTile - 1) / kTile;
constexpr float kScale = 1.44269504f * inverse_root(kDimension);

__device__ __forceinline__ void copy(unsigned to, const __half* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

__device__ __forceinline__ void load_four(unsigned (&v)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void load_four_transposed(unsigned (&v)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// `count` rows from `first` on; rows beyond `rows` are zero.
__device__ __forceinline__ void fetch(const __half* __restrict__ from, unsigned to, int first, int count, int rows) {
  for (int i = threadIdx.x; i < count * (kDimension / 8); i += kWarps * 32) {
    const int row = i / (kDimension / 8), column = i % (kDimension / 8) * 8;
    const bool inside = first + row < rows;
    copy(to + 2 * (row * kPitch + column), inside ? from + static_cast<size_t>(first + row) * kDimension + column : from,
         inside);
  }
}

__global__ void __launch_bounds__(kWarps * 32)
    attention(const __half* __restrict__ query, const __half* __restrict__ key, const __half* __restrict__ value,
              __half* __restrict__ output) {
  extern __shared__ __align__(16) char memory[];
  const unsigned tiles = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_query = blockIdx.x * (kWarps * 16);
  const __half* q = query + static_cast<size_t>(blockIdx.y) * kQueries * kDimension;
  const __half* k = key + static_cast<size_t>(blockIdx.y) * kKeys * kDimension;
  const __half* v = value + static_cast<size_t>(blockIdx.y) * kKeys * kDimension;
  fetch(q, tiles, first_query, kWarps * 16, kQueries);
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  unsigned queries[kDimension / 16][4];
#pragma unroll
  for (int i = 0; i < kDimension / 16; ++i) {
    load_four(queries[i], tiles + 2 * ((warp * 16 + lane % 16) * kPitch + i * 16 + lane / 16 * 8));
  }
  __syncthreads();
  auto request = [&](int step) {
    const unsigned to = tiles + step % 2 * (4 * kTileHalves);
    fetch(k, to, step * kTile, kTile, kKeys);
    fetch(v, to + 2 * kTileHalves, step * kTile, kTile, kKeys);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float sums[kDimension / 8][4] = {};
  float maximum[2] = {__int_as_float(0xff800000), __int_as_float(0xff800000)}, sum[2] = {};
  request(0);
  for (int step = 0; step < kSteps; ++step) {
    if (step + 1 < kSteps) {
      request(step + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    const unsigned keys = tiles + step % 2 * (4 * kTileHalves), values = keys + 2 * kTileHalves;
    float scores[kTile / 8][4] = {};
#pragma unroll
    for (int i = 0; i < kDimension / 16; ++i) {
#pragma unroll
      for (int j = 0; j < kTile / 16; ++j) {
        unsigned b[4];
        load_four(b, keys + 2 * ((j * 16 + lane % 8 + lane / 16 * 8) * kPitch + i * 16 + lane / 8 % 2 * 8));
        multiply(scores[2 * j], queries[i], b[0], b[1]);
        multiply(scores[2 * j + 1], queries[i], b[2], b[3]);
      }
    }
    if (kKeys % kTile != 0 && step == kSteps - 1) {
#pragma unroll
      for (int j = 0; j < kTile / 8; ++j) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          if (step * kTile + j * 8 + lane % 4 * 2 + s % 2 >= kKeys) scores[j][s] = __int_as_float(0xff800000);
        }
      }
    }
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float highest = maximum[row];
#pragma unroll
      for (int j = 0; j < kTile / 8; ++j) highest = fmaxf(highest, fmaxf(scores[j][row * 2], scores[j][row * 2 + 1]));
      highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 1));
      highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
      const float correction = exp2f((maximum[row] - highest) * kScale), shift = highest * kScale;
      maximum[row] = highest;
      float added = 0.0f;
#pragma unroll
      for (int j = 0; j < kTile / 8; ++j) {
#pragma unroll
        for (int s = 0; s < 2; ++s) {
          scores[j][row * 2 + s] = exp2f(scores[j][row * 2 + s] * kScale - shift);
          added += scores[j][row * 2 + s];
        }
      }
      sum[row] = sum[row] * correction + added;
#pragma unroll
      for (int i = 0; i < kDimension / 8; ++i) {
        sums[i][row * 2] *= correction;
        sums[i][row * 2 + 1] *= correction;
      }
    }
#pragma unroll
    for (int j = 0; j < kTile / 16; ++j) {
      unsigned weights[4];
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const __half2 pair = __floats2half2_rn(scores[2 * j + s / 2][s % 2 * 2], scores[2 * j + s / 2][s % 2 * 2 + 1]);
        weights[s] = *reinterpret_cast<const unsigned*>(&pair);
      }
#pragma unroll
      for (int i = 0; i < kDimension / 16; ++i) {
        unsigned b[4];
        load_four_transposed(b, values + 2 * ((j * 16 + lane % 16) * kPitch + i * 16 + lane / 16 * 8));
        multiply(sums[2 * i], weights, b[0], b[1]);
        multiply(sums[2 * i + 1], weights, b[2], b[3]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    sum[row] += __shfl_xor_sync(0xffffffffu, sum[row], 1);
    sum[row] += __shfl_xor_sync(0xffffffffu, sum[row], 2);
    const float factor = 1.0f / sum[row];
    const int at = first_query + warp * 16 + lane / 4 + row * 8;
    if (at >= kQueries) continue;
    __half* to = output + (static_cast<size_t>(blockIdx.y) * kQueries + at) * kDimension + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kDimension / 8; ++i) {
      *reinterpret_cast<__half2*>(to + i * 8) = __floats2half2_rn(sums[i][row * 2] * factor, sums[i][row * 2 + 1] * factor);
    }
  }
}
