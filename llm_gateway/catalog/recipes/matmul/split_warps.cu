/* warpsmith-plan
{"version": 1, "min_arch": "sm_80",
 "scratch": [{"name": "largest", "dtype": "int32", "shape": [2]},
             {"name": "a_parts", "dtype": "float16", "shape": [2, @{m}, @{k}]},
             {"name": "b_parts", "dtype": "float16", "shape": [2, @{k}, @{n}]}],
 "steps": [
   {"memset": "largest", "value": 0, "width": 4},
   {"kernel": "find_largest", "grid": ["4 * sm_count"], "block": [512], "args": ["@{a}", "@{b}", "largest"]},
   {"kernel": "split", "grid": ["4 * sm_count"], "block": [512],
    "args": ["@{a}", "@{b}", "largest", "a_parts", "b_parts"]},
   {"kernel": "multiply_tiles", "grid": [@{grid_x}, @{grid_y}],
    "block": [256], "shared_bytes": @{shared},
    "args": ["a_parts", "b_parts", "largest", "output"]}]}
*/
// Float32's precision from half-precision tensor cores: each element is scaled by a power of two and split into two
// halves, and of their four products the three that matter are added. Tensor cores cut sums off instead of rounding
// them, so their sums are short and are added to sums that CUDA cores keep.
#include <cuda_fp16.h>

constexpr int kM = @{m}, kN = @{n}, kK = @{k};
constexpr int kTileM = @{BM}, kTileN = @{BN}, kTileK = @{BK}, kStages = @{STAGES};
constexpr int kParts = 2;
constexpr int kWarpRows = @{WM}, kWarpColumns = 8 / kWarpRows;        // warps over the tile
constexpr int kRows = kTileM / kWarpRows / 16, kColumns = kTileN / kWarpColumns / 8;  // products of a warp
constexpr int kPitchA = kTileK + 8, kPitchB = kTileN + 8;  // in halves; sixteen bytes more, against bank conflicts
constexpr int kPartA = kTileM * kPitchA, kPartB = kTileK * kPitchB;
constexpr int kStage = kParts * (kPartA + kPartB);
constexpr int kSteps = (kK + kTileK - 1) / kTileK;
static_assert(kColumns % 2 == 0, "columns are loaded sixteen at a time");

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
  return largest;
}

__global__ void __launch_bounds__(512)
    find_largest(const float* __restrict__ a, const float* __restrict__ b, unsigned* __restrict__ largest) {
  __shared__ unsigned of_block[2];
  if (threadIdx.x < 2) of_block[threadIdx.x] = 0;
  __syncthreads();
  const unsigned of_a = __reduce_max_sync(0xffffffffu, largest_of(a, static_cast<long long>(kM) * kK));
  const unsigned of_b = __reduce_max_sync(0xffffffffu, largest_of(b, static_cast<long long>(kK) * kN));
  if (threadIdx.x % 32 == 0) {
    atomicMax(&of_block[0], of_a);
    atomicMax(&of_block[1], of_b);
  }
  __syncthreads();
  if (threadIdx.x < 2) atomicMax(&largest[threadIdx.x], of_block[threadIdx.x]);
}

// Each element, scaled, as the sum of two halves: the nearest one and the nearest to what is left, 22 bits in all.
__device__ __forceinline__ void split_matrix(const float* __restrict__ matrix, __half* __restrict__ parts,
                                             long long count, float scale) {
  const float4* vectors = reinterpret_cast<const float4*>(matrix);
  uint4* large = reinterpret_cast<uint4*>(parts);
  uint4* small = reinterpret_cast<uint4*>(parts + count);
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
#pragma unroll 2
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count / 8; i += step) {
    const float4 first = __ldcs(vectors + 2 * i), second = __ldcs(vectors + 2 * i + 1);
    const float x[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
    __half2 to_large[4], to_small[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float even = x[2 * j] * scale, odd = x[2 * j + 1] * scale;
      to_large[j] = __floats2half2_rn(even, odd);
      const float2 back = __half22float2(to_large[j]);
      to_small[j] = __floats2half2_rn(even - back.x, odd - back.y);
    }
    large[i] = *reinterpret_cast<const uint4*>(to_large);
    small[i] = *reinterpret_cast<const uint4*>(to_small);
  }
}

__global__ void __launch_bounds__(512)
    split(const float* __restrict__ a, const float* __restrict__ b, const unsigned* __restrict__ largest,
          __half* __restrict__ a_parts, __half* __restrict__ b_parts) {
  split_matrix(a, a_parts, static_cast<long long>(kM) * kK, power_of_two(scale_exponent(largest[0])));
  split_matrix(b, b_parts, static_cast<long long>(kK) * kN, power_of_two(scale_exponent(largest[1])));
}

// Sixteen bytes; zeros where `inside` is false.
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

__device__ __forceinline__ void fetch(const __half* __restrict__ a, const __half* __restrict__ b, unsigned to, int row,
                                      int column, int k) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    for (int i = threadIdx.x; i < kTileM * (kTileK / 8); i += 256) {
      const int r = i / (kTileK / 8), c = i % (kTileK / 8) * 8;
      const bool inside = row + r < kM && k + c < kK;
      const size_t from = static_cast<size_t>(part) * kM * kK + static_cast<size_t>(row + r) * kK + k + c;
      copy(to + 2 * (part * kPartA + r * kPitchA + c), inside ? a + from : a, inside);
    }
    for (int i = threadIdx.x; i < kTileK * (kTileN / 8); i += 256) {
      const int r = i / (kTileN / 8), c = i % (kTileN / 8) * 8;
      const bool inside = k + r < kK && column + c < kN;
      const size_t from = static_cast<size_t>(part) * kK * kN + static_cast<size_t>(k + r) * kN + column + c;
      copy(to + 2 * (kParts * kPartA + part * kPartB + r * kPitchB + c), inside ? b + from : b, inside);
    }
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

__global__ void __launch_bounds__(256)
    multiply_tiles(const __half* __restrict__ a, const __half* __restrict__ b, const unsigned* __restrict__ largest,
                   float* __restrict__ c) {
  extern __shared__ __align__(16) char memory[];
  const unsigned tiles = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * kTileM, column = blockIdx.x * kTileN;
  const int warp_row = warp / kWarpColumns * (kRows * 16), warp_column = warp % kWarpColumns * (kColumns * 8);
  float sums[kRows][kColumns][4] = {};
  for (int i = 0; i < kStages - 1; ++i) {
    if (i < kSteps) {
      fetch(a, b, tiles + i * kStage * 2, row, column, i * kTileK);
    } else {
      asm volatile("cp.async.commit_group;" ::: "memory");
    }
  }
  for (int step = 0; step < kSteps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
    const int ahead = step + kStages - 1;
    if (ahead < kSteps) {
      fetch(a, b, tiles + ahead % kStages * kStage * 2, row, column, ahead * kTileK);
    } else {
      asm volatile("cp.async.commit_group;" ::: "memory");
    }
    const unsigned stage = tiles + step % kStages * kStage * 2;
    float part_sums[kRows][kColumns][4] = {};
#pragma unroll
    for (int k = 0; k < kTileK; k += 16) {
      unsigned left[kParts][kRows][4], right[kParts][kColumns / 2][4];
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          load_four(left[part][i], stage + 2 * (part * kPartA + (warp_row + i * 16 + lane % 16) * kPitchA + k +
                                                lane / 16 * 8));
        }
#pragma unroll
        for (int j = 0; j < kColumns / 2; ++j) {
          load_four_transposed(right[part][j], stage + 2 * (kParts * kPartA + part * kPartB +
                                                            (k + lane % 16) * kPitchB + warp_column + j * 16 +
                                                            lane / 16 * 8));
        }
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          const unsigned large0 = right[0][j / 2][j % 2 * 2], large1 = right[0][j / 2][j % 2 * 2 + 1];
          multiply(part_sums[i][j], left[1][i], large0, large1);
          multiply(part_sums[i][j], left[0][i], right[1][j / 2][j % 2 * 2], right[1][j / 2][j % 2 * 2 + 1]);
          multiply(part_sums[i][j], left[0][i], large0, large1);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
#pragma unroll
        for (int s = 0; s < 4; ++s) sums[i][j][s] += part_sums[i][j][s];
      }
    }
  }
  const float unscale_a = power_of_two(-scale_exponent(largest[0]));
  const float unscale_b = power_of_two(-scale_exponent(largest[1]));
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = row + warp_row + i * 16 + lane / 4 + half * 8, s = column + warp_column + j * 8 + lane % 4 * 2;
        if (r < kM && s < kN) {
          *reinterpret_cast<float2*>(c + static_cast<size_t>(r) * kN + s) =
              make_float2(sums[i][j][half * 2] * unscale_a * unscale_b, sums[i][j][half * 2 + 1] * unscale_a * unscale_b);
        }
      }
    }
  }
}
