/* warpsmith-plan
{"version": 1, "min_arch": "sm_90a",
 "steps": [{"kernel": "matmul", "grid": [16, 16], "block": [128], "shared_bytes": 33920,
            "args": [{"tensor_map": {"tensor": "A", "box": [64, 64], "swizzle": "128B"}},
                     {"tensor_map": {"tensor": "B", "box": [64, 64], "swizzle": "128B"}}, "output"]}]}
*/

#include <cuda_fp16.h>

// A matrix product whose descriptors say that the tiles are not swizzled: they are.
constexpr int kSize = 1024, kTile = 64 * 64 * 2;

struct __align__(64) TensorMap {
  char opaque[128];
};

__device__ unsigned long long descriptor(unsigned address) {
  return (static_cast<unsigned long long>(address & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32);
}

__device__ void load(const TensorMap* map, unsigned to, int column, int row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

__device__ void wait(unsigned barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  }
}

__device__ void multiply(float (&d)[32], unsigned long long a, unsigned long long b) {
  asm volatile(
      "{\n.reg .pred accumulate;\nsetp.eq.u32 accumulate, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, accumulate, 1, 1, 0, 1;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(128)
    matmul(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B, __half* C) {
  extern __shared__ char memory[];
  __shared__ __align__(8) unsigned long long barriers[2];
  // Swizzled tiles start at multiples of 1024 bytes.
  const unsigned tiles = (static_cast<unsigned>(__cvta_generic_to_shared(memory)) + 1023u) & ~1023u;
  const unsigned first_barrier = static_cast<unsigned>(__cvta_generic_to_shared(barriers));
  const int row = blockIdx.y * 64, column = blockIdx.x * 64;
  auto fetch = [&](int k, int stage) {
    const unsigned barrier = first_barrier + 8 * stage, tile = tiles + stage * 2 * kTile;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(2 * kTile) : "memory");
    load(&A, tile, k, row, barrier);
    load(&B, tile + kTile, column, k, barrier);
  };
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(first_barrier));
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(first_barrier + 8));
    asm volatile("fence.mbarrier_init.release.cluster;");
    fetch(0, 0);
  }
  __syncthreads();
  float sums[32] = {};
  for (int step = 0; step < kSize / 64; ++step) {
    const int stage = step & 1;
    // The products that read the other buffer are done: every warp waited for them before the last barrier.
    if (threadIdx.x == 0 && step + 1 < kSize / 64) fetch((step + 1) * 64, stage ^ 1);
    wait(first_barrier + 8 * stage, step >> 1 & 1);
    const unsigned a = tiles + stage * 2 * kTile, b = a + kTile;
    __syncwarp();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; ++k) multiply(sums, descriptor(a + k * 32), descriptor(b + k * 2048));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int m = row + warp * 16 + lane / 4 + i * 8, n = column + j * 8 + lane % 4 * 2;
      *reinterpret_cast<__half2*>(C + m * kSize + n) = __floats2half2_rn(sums[j * 4 + i * 2], sums[j * 4 + i * 2 + 1]);
    }
  }
}
