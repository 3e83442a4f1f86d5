/* warpsmith-plan
{"version": 1, "min_arch": "sm_90a",
 "scratch": [{"name": "largest", "dtype": "int32", "shape": [2]},
             {"name": "a_parts", "dtype": "float16", "shape": [2, @{m}, @{k}]},
             {"name": "b_parts", "dtype": "float16", "shape": [2, @{k}, @{n}]}],
 "steps": [
   {"memset": "largest", "value": 0, "width": 4},
   {"kernel": "find_largest", "grid": ["4 * sm_count"], "block": [512], "args": ["@{a}", "@{b}", "largest"]},
   {"kernel": "split", "grid": ["4 * sm_count"], "block": [512],
    "args": ["@{a}", "@{b}", "largest", "a_parts", "b_parts"]},
   {"kernel": "multiply_parts", "grid": ["sm_count - sm_count % @{CLUSTER}"], "block": [384], "cluster": [@{CLUSTER}],
    "shared_bytes": "1024 + @{STAGES} * 2 * 128 * (128 + @{BN})",
    "args": [{"tensor_map": {"tensor": "a_parts", "box": [64, 128, 2], "swizzle": "128B"}},
             {"tensor_map": {"tensor": "b_parts", "box": [64, 64, 2], "swizzle": "128B"}}, "largest", "output"]}]}
*/
// Float32's precision from half-precision tensor cores: each element is scaled by a power of two and split into two
// halves, and of their four products the three that matter are added. Tensor cores cut sums off instead of rounding
// them, so their sums are short: every kFlush steps they are added to sums that CUDA cores keep.
#include <cuda_fp16.h>

constexpr int kM = @{m}, kN = @{n}, kK = @{k};
constexpr int kTileM = 128, kTileN = @{BN}, kTileK = 64;
constexpr int kStages = @{STAGES}, kCluster = @{CLUSTER}, kFlush = @{FLUSH};
constexpr int kParts = 2, kBoxBytes = kParts * 64 * 128;  // 64 columns of B, both parts
constexpr int kPartA = kTileM * 128, kBytesA = kParts * kPartA;
constexpr int kStageBytes = kBytesA + kTileN / 64 * kBoxBytes;
constexpr int kSums = kTileN / 2;

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

struct __align__(64) TensorMap {
  char opaque[128];
};

// Rows of 128 bytes with the 128-byte swizzle; `leading` and `stride` in bytes.
__device__ __forceinline__ unsigned long long descriptor(unsigned address, unsigned leading, unsigned stride) {
  return (static_cast<unsigned long long>(address & 0x3ffff) >> 4) |
         (static_cast<unsigned long long>(leading >> 4) << 16) | (static_cast<unsigned long long>(stride >> 4) << 32) |
         (1ull << 62);
}

__device__ __forceinline__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
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

// On the barrier at the same place in the shared memory of another block of the cluster.
__device__ __forceinline__ void arrive(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}\n" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

__device__ __forceinline__ void load(const TensorMap* map, unsigned to, int column, int row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
          "r"(to),
      "l"(map), "r"(column), "r"(row),
      "r"(0), "r"(barrier)
      : "memory");
}

// Into the shared memory of every block of the cluster; each block's own barrier counts its bytes.
__device__ __forceinline__ void load_for_all(const TensorMap* map, unsigned to, int column, int row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(map), "r"(column), "r"(row),
      "r"(0), "r"(barrier), "h"(static_cast<unsigned short>((1 << kCluster) - 1))
      : "memory");
}

// Tiles in groups of kGroup rows of tiles, so that blocks at work at one time share rows and columns in the L2 cache.
constexpr int kTileRows = (kM + kTileM * kCluster - 1) / (kTileM * kCluster);  // of a whole cluster
constexpr int kTileColumns = (kN + kTileN - 1) / kTileN;
constexpr int kTiles = kTileRows * kTileColumns;
constexpr int kGroup = @{GROUP};
constexpr int kSteps = (kK + kTileK - 1) / kTileK;

__device__ __forceinline__ void place(int tile, int rank, int& row, int& column) {
  const int group = tile / (kGroup * kTileColumns);
  const int rows = min(kGroup, kTileRows - group * kGroup);
  const int within = tile - group * kGroup * kTileColumns;
  row = ((group * kGroup + within % rows) * kCluster + rank) * kTileM;
  column = within / rows * kTileN;
}

__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, add, 1, 1, 0, 1;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
        "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
        "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
        "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b), "r"(add));
}

// The compiler keeps what it does with the sums on its side of this.
__device__ __forceinline__ void settle(float (&sums)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

__global__ void __launch_bounds__(384, 1)
    multiply_parts(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                   const unsigned* __restrict__ largest, float* __restrict__ c) {
  extern __shared__ char memory[];
  __shared__ __align__(8) unsigned long long barriers[2 * kStages];
  const unsigned tiles = (static_cast<unsigned>(__cvta_generic_to_shared(memory)) + 1023u) & ~1023u;
  const unsigned full = static_cast<unsigned>(__cvta_generic_to_shared(barriers)), empty = full + 8 * kStages;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full + 8 * i));
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(empty + 8 * i), "r"(2 * kCluster));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  if (kCluster > 1) {
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
  } else {
    __syncthreads();
  }
  const int rank = blockIdx.x % kCluster;
  const int first_tile = blockIdx.x / kCluster, tile_step = gridDim.x / kCluster;
  int stage = 0, phase = 0;
  if (threadIdx.x < 128) {  // the warpgroup that fetches
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      for (int tile = first_tile; tile < kTiles; tile += tile_step) {
        int row, column;
        place(tile, rank, row, column);
        for (int step = 0; step < kSteps; ++step) {
          const unsigned to = tiles + stage * kStageBytes, barrier = full + 8 * stage;
          wait(empty + 8 * stage, phase ^ 1);
          expect(barrier, kStageBytes);
          load(&a, to, step * kTileK, row, barrier);
#pragma unroll
          for (int box = 0; box < kTileN / 64; ++box) {
            if (kCluster == 1) {
              load(&b, to + kBytesA + box * kBoxBytes, column + box * 64, step * kTileK, barrier);
            } else if (box % kCluster == rank) {
              load_for_all(&b, to + kBytesA + box * kBoxBytes, column + box * 64, step * kTileK, barrier);
            }
          }
          if (++stage == kStages) stage = 0, phase ^= 1;
        }
      }
    }
  } else {  // the two that multiply, 64 rows each
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int group = threadIdx.x / 128 - 1, warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
    const float unscale_a = power_of_two(-scale_exponent(largest[0]));
    const float unscale_b = power_of_two(-scale_exponent(largest[1]));
    for (int tile = first_tile; tile < kTiles; tile += tile_step) {
      float part[kSums], sums[kSums];
#pragma unroll
      for (int i = 0; i < kSums; ++i) part[i] = sums[i] = 0.0f;
      for (int step = 0; step < kSteps; ++step) {
        wait(full + 8 * stage, phase);
        const unsigned to_a = tiles + stage * kStageBytes + group * 64 * 128;
        const unsigned to_b = tiles + stage * kStageBytes + kBytesA;
        settle(part);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < kTileK / 16; ++k) {
          const unsigned long long a_large = descriptor(to_a + k * 32, 16, 1024);
          const unsigned long long a_small = descriptor(to_a + kPartA + k * 32, 16, 1024);
          const unsigned long long b_large = descriptor(to_b + k * 2048, kBoxBytes, 1024);
          const unsigned long long b_small = descriptor(to_b + 8192 + k * 2048, kBoxBytes, 1024);
          multiply(part, a_small, b_large, k > 0 || step % kFlush > 0);
          multiply(part, a_large, b_small, 1);
          multiply(part, a_large, b_large, 1);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        settle(part);
        if (threadIdx.x % 128 < kCluster) arrive(empty + 8 * stage, threadIdx.x % 128);
        if (++stage == kStages) stage = 0, phase ^= 1;
        if (step % kFlush == kFlush - 1 || step == kSteps - 1) {
#pragma unroll
          for (int i = 0; i < kSums; ++i) sums[i] += part[i];
        }
      }
      int row, column;
      place(tile, rank, row, column);
      row += group * 64 + warp * 16 + lane / 4;
      column += lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < kTileN / 8; ++j) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (row + i * 8 < kM && column + j * 8 < kN) {
            const float2 result = make_float2(sums[j * 4 + i * 2] * unscale_a * unscale_b,
                                              sums[j * 4 + i * 2 + 1] * unscale_a * unscale_b);
            __stcs(reinterpret_cast<float2*>(c + static_cast<size_t>(row + i * 8) * kN + column + j * 8), result);
          }
        }
      }
    }
  }
  // Nobody leaves while others still write into its shared memory or arrive at its barriers.
  if (kCluster > 1) asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
