/* warpsmith-plan
{"version": 1, "min_arch": "sm_80",
 "scratch": [],
 "steps": [
   {"kernel": "multiply_tiles", "grid": [@{grid_x}, @{grid_y}],
    "block": [256], "shared_bytes": @{shared},
    "args": ["@{a}", "@{b}", "output"]}]}
*/
// Warp matrix products with float32 sums; tiles come by asynchronous copies into a ring of kStages stages.
#include <cuda_fp16.h>

constexpr int kM = @{m}, kN = @{n}, kK = @{k};
constexpr int kTileM = @{BM}, kTileN = @{BN}, kTileK = @{BK}, kStages = @{STAGES};
constexpr int kParts = 1;
constexpr int kWarpRows = @{WM}, kWarpColumns = 8 / kWarpRows;        // warps over the tile
constexpr int kRows = kTileM / kWarpRows / 16, kColumns = kTileN / kWarpColumns / 8;  // products of a warp
constexpr int kPitchA = kTileK + 8, kPitchB = kTileN + 8;  // in halves; sixteen bytes more, against bank conflicts
constexpr int kPartA = kTileM * kPitchA, kPartB = kTileK * kPitchB;
constexpr int kStage = kParts * (kPartA + kPartB);
constexpr int kSteps = (kK + kTileK - 1) / kTileK;
static_assert(kColumns % 2 == 0, "columns are loaded sixteen at a time");

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
    multiply_tiles(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ c) {
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
          multiply(sums[i][j], left[0][i], right[0][j / 2][j % 2 * 2], right[0][j / 2][j % 2 * 2 + 1]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = row + warp_row + i * 16 + lane / 4 + half * 8, s = column + warp_column + j * 8 + lane % 4 * 2;
        if (r < kM && s < kN) {
          *reinterpret_cast<__half2*>(c + static_cast<size_t>(r) * kN + s) =
              __floats2half2_rn(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
        }
      }
    }
  }
}
