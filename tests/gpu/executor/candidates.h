// The candidates of the executor's GPU tests.
#ifndef WARPSMITH_TESTS_GPU_EXECUTOR_CANDIDATES_H_
#define WARPSMITH_TESTS_GPU_EXECUTOR_CANDIDATES_H_

namespace warpsmith::executor {

inline constexpr char kPlain[] = R"(
extern "C" __global__ void scale(const float* x, float* y, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * by;
}
extern "C" __global__ void add_one(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 1.0f;
}
extern "C" __global__ void nothing(float* y) { if (threadIdx.x == 0) y[0] += 1.0f; }
template <int N> __global__ void times(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] *= N;
}
)";

// Reverses through shared memory: every word of it is used.
inline constexpr char kShared[] = R"(
extern "C" __global__ void reverse(const float* x, float* y, int n) {
  extern __shared__ float room[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) room[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = room[n - 1 - i];
}
)";

inline constexpr char kCooperative[] = R"(
#include <cooperative_groups.h>
extern "C" __global__ void two_phases(float* part, float* y, int n) {
  auto grid = cooperative_groups::this_grid();
  if (threadIdx.x == 0) part[blockIdx.x] = blockIdx.x + 1;
  grid.sync();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int b = 0; b < (int)gridDim.x; ++b) sum += part[b];
  if (i < n) y[i] = sum;
}
)";

inline constexpr char kCluster[] = R"(
#include <cooperative_groups.h>
extern "C" __global__ void neighbours(float* y) {
  __shared__ float mine;
  auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) mine = blockIdx.x;
  cluster.sync();
  unsigned int rank = cluster.block_rank(), count = cluster.num_blocks();
  if (threadIdx.x == 0) y[blockIdx.x] = *cluster.map_shared_rank(&mine, (rank + 1) % count) + 1000 * count;
  cluster.sync();
}
)";

// Each block loads a tile of 32 columns and 16 rows.
inline constexpr char kTensorMap[] = R"(
struct alignas(64) Map { char bytes[128]; };
extern "C" __global__ void tiles(const __grid_constant__ Map map, float* y, int columns) {
  __shared__ alignas(128) float tile[16 * 32];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned int tile_at = (unsigned int)__cvta_generic_to_shared(tile);
  unsigned int barrier_at = (unsigned int)__cvta_generic_to_shared(&barrier);
  int column = blockIdx.x * 32, row = blockIdx.y * 16;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier_at));
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier_at), "r"(16 * 32 * 4));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            tile_at), "l"(&map), "r"(column), "r"(row), "r"(barrier_at) : "memory");
  }
  __syncthreads();
  unsigned int done = 0;
  while (!done) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(barrier_at) : "memory");
  }
  for (int i = threadIdx.x; i < 16 * 32; i += blockDim.x) {
    y[(row + i / 32) * columns + column + i % 32] = 2 * tile[i];
  }
}
)";

inline constexpr char kFaults[] = R"(
extern "C" __global__ void far_write(float* y) { *(float*)((char*)y + (1ull << 46)) = 1; }
extern "C" __global__ void null_read(float* y) { y[0] = *(volatile float*)nullptr; }
extern "C" __global__ void misaligned(float* y) { *(volatile float*)((char*)y + 1) = 1; }
extern "C" __global__ void one_past(float* y, int n) { if (threadIdx.x == 0) y[n] = 1; }
extern "C" __global__ void endless(float* y) { while (*(volatile float*)y != -77.0f) {} }
extern "C" __global__ void trap(float* y) { if (threadIdx.x == 0) __trap(); }
extern "C" __global__ void fine(float* y) { y[threadIdx.x] = threadIdx.x; }
extern "C" __global__ void print(float* y) { printf("thread %d\n", threadIdx.x); y[threadIdx.x] = 1; }
extern "C" __global__ void heap(float* y) {
  int* mine = (int*)malloc(64);
  y[threadIdx.x] = mine != nullptr;
  free(mine);
}
extern "C" __global__ void much_local(float* y, int at) {
  float room[120000];
  for (int i = 0; i < 120000; ++i) room[i] = y[i % 7];
  y[0] = room[at];
}
)";

// Counts words of shared memory that an earlier launch wrote, then writes them for the next.
inline constexpr char kLeftover[] = R"(
extern "C" __global__ void leave(unsigned int* seen, int words) {
  extern __shared__ volatile unsigned int room[];
  unsigned int count = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) count += room[i] == 0x5eed5eed;
  __syncthreads();
  for (int i = threadIdx.x; i < words; i += blockDim.x) room[i] = 0x5eed5eed;
  if (count) atomicAdd(seen, count);
}
)";

// Sums 16 MB, asking the cache to keep them or not.
inline constexpr char kPersist[] = R"(
__device__ __forceinline__ float4 keep(const float4* at) {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  float4 v;
  asm volatile("ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(at), "l"(policy));
  return v;
}
extern "C" __global__ void sum_kept(const float4* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = keep(x + i);
    sum += v.x + v.y + v.z + v.w;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void sum_plain(const float4* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    sum += v.x + v.y + v.z + v.w;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
)";

inline constexpr char kCopy[] = R"(
extern "C" __global__ void copy(const float4* x, float4* y, long long n) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    y[i] = x[i];
  }
}
extern "C" __global__ void wait(float* y, long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do { asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); } while (now - start < (unsigned long long)nanoseconds);
  y[0] = 1;
}
)";

}  // namespace warpsmith::executor

#endif  // WARPSMITH_TESTS_GPU_EXECUTOR_CANDIDATES_H_
