/* warpsmith-plan
{"version": 1, "min_arch": "sm_90a", "scratch": [],
 "steps": [
   {"kernel": "multiply_tiles", "grid": ["min(sm_count - sm_count % @{CLUSTER}, @{BLOCKS})"], "block": [384], "cluster": [@{CLUSTER}],
    "shared_bytes": "1024 + @{STAGES} * 49152 + 32768",
    "args": [{"tensor_map": {"tensor": "@{a}", "box": [64, 128], "swizzle": "128B"}},
             {"tensor_map": {"tensor": "@{b}", "box": [64, 64], "swizzle": "128B"}},
             {"tensor_map": {"tensor": "output", "box": [64, 64], "swizzle": "128B"}}]}]}
*/
// Warpgroup matrix products. One warpgroup fetches tiles through the tensor memory accelerator into a ring of kStages
// stages, two multiply 64 rows each; blocks stay and walk over the tiles of the result. Blocks of a cluster share a
// column of tiles and fetch B for one another. Results leave through shared memory, under the next tile's products.
// With kToAndFro a block walks over K forwards and backwards in turn, so that a tile begins with those rows and columns
// that the tiles before it have just brought into the L2 cache; results, which nobody reads again, leave it first.
#include <cuda_fp16.h>

constexpr int kM = @{m}, kN = @{n}, kK = @{k};
constexpr int kTileM = 128, kTileN = 256, kTileK = 64;
constexpr int kStages = @{STAGES}, kCluster = @{CLUSTER};
constexpr int kInFlight = @{IN_FLIGHT};  // groups of products that are not waited for
constexpr bool kToAndFro = @{TO_AND_FRO} == 1;
constexpr int kBoxBytes = 64 * 128;          // 64 columns of B
constexpr int kBytesA = kTileM * 128;
constexpr int kStageBytes = kBytesA + kTileN / 64 * kBoxBytes;
constexpr int kHalfResults = 64 * 128 * 2;  // of a warpgroup, staged on their way out

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
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// Into the shared memory of every block of the cluster; each block's own barrier counts its bytes.
__device__ __forceinline__ void load_for_all(const TensorMap* map, unsigned to, int column, int row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier), "h"(static_cast<unsigned short>((1 << kCluster) - 1))
      : "memory");
}

__device__ __forceinline__ void store(const TensorMap* map, unsigned from, int column, int row) {
  if constexpr (kToAndFro) {
    unsigned long long leave_first;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(leave_first));
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(map),
        "r"(column), "r"(row), "r"(from), "l"(leave_first)
        : "memory");
  } else {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(column),
                 "r"(row), "r"(from)
                 : "memory");
  }
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
  // To and fro here as well: every other group from the column that the group before has ended with.
  column = (kToAndFro && group % 2 == 1 ? kTileColumns - 1 - within / rows : within / rows) * kTileN;
}

__device__ __forceinline__ void multiply(float (&d)[128], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, add, 1, 1, 0, 1;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
        "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
        "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
        "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]),
        "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]),
        "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]),
        "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]),
        "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]),
        "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]),
        "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
        "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]),
        "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]),
        "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b), "r"(add));
}

__device__ __forceinline__ unsigned pair(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&both);
}

__global__ void __launch_bounds__(384, 1)
    multiply_tiles(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                   const __grid_constant__ TensorMap c) {
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
        const bool backwards = kToAndFro && (tile - first_tile) / tile_step % 2 == 1;
        for (int step = 0; step < kSteps; ++step) {
          const int k = (backwards ? kSteps - 1 - step : step) * kTileK;
          const unsigned to = tiles + stage * kStageBytes, barrier = full + 8 * stage;
          wait(empty + 8 * stage, phase ^ 1);
          expect(barrier, kStageBytes);
          load(&a, to, k, row, barrier);
#pragma unroll
          for (int box = 0; box < kTileN / 64; ++box) {
            if (kCluster == 1) {
              load(&b, to + kBytesA + box * kBoxBytes, column + box * 64, k, barrier);
            } else if (box % kCluster == rank) {
              load_for_all(&b, to + kBytesA + box * kBoxBytes, column + box * 64, k, barrier);
            }
          }
          if (++stage == kStages) stage = 0, phase ^= 1;
        }
      }
    }
  } else {  // the two that multiply, 64 rows each
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int group = threadIdx.x / 128 - 1, warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
    const unsigned results = tiles + kStages * kStageBytes + group * kHalfResults;
    const bool speaks = threadIdx.x % 128 == 0;
    for (int tile = first_tile; tile < kTiles; tile += tile_step) {
      float sums[128];
      int before = 0;  // the stage whose products may still be under way
      for (int step = 0; step < kSteps; ++step) {
        wait(full + 8 * stage, phase);
        const unsigned to_a = tiles + stage * kStageBytes + group * 64 * 128;
        const unsigned to_b = tiles + stage * kStageBytes + kBytesA;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < kTileK / 16; ++k) {
          multiply(sums, descriptor(to_a + k * 32, 16, 1024), descriptor(to_b + k * 2048, kBoxBytes, 1024),
                   k > 0 || step > 0);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if constexpr (kInFlight == 0) {
          asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
          if (threadIdx.x % 128 < kCluster) arrive(empty + 8 * stage, threadIdx.x % 128);
        } else {
          asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
          if (step > 0 && threadIdx.x % 128 < kCluster) arrive(empty + 8 * before, threadIdx.x % 128);
        }
        before = stage;
        if (++stage == kStages) stage = 0, phase ^= 1;
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int i = 0; i < 128; ++i) asm volatile("" : "+f"(sums[i])::"memory");
      if (kInFlight > 0 && threadIdx.x % 128 < kCluster) arrive(empty + 8 * before, threadIdx.x % 128);
      int row, column;
      place(tile, rank, row, column);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // The last half must have left.
        if (speaks) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
#pragma unroll
        for (int i = 0; i < 8; ++i) {  // 16 columns at a time
          const int at = half * 64 + i * 8, r = warp * 16 + lane % 16, chunk = i % 4 * 2 + lane / 16;
          const unsigned to = results + i / 4 * kBoxBytes + r * 128 + ((chunk ^ (r % 8)) * 16);
          asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                       "r"(pair(sums[at], sums[at + 1])), "r"(pair(sums[at + 2], sums[at + 3])),
                       "r"(pair(sums[at + 4], sums[at + 5])), "r"(pair(sums[at + 6], sums[at + 7]))
                       : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
        if (speaks) {
          store(&c, results, column + half * 128, row + group * 64);
          store(&c, results + kBoxBytes, column + half * 128 + 64, row + group * 64);
          asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
      }
    }
    if (speaks) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  // Nobody leaves while others still write into its shared memory or arrive at its barriers.
  if (kCluster > 1) asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
