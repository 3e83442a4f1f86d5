// kernels.cu on the host: a block's threads are threads, its blocks run one after the other. For tests only; slow.
#include <pthread.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

struct Index {
  unsigned x = 0, y = 0;
};
thread_local Index threadIdx;
Index blockIdx, blockDim, gridDim;
pthread_barrier_t block_barrier;
std::vector<pthread_barrier_t> warp_barriers;
uint64_t lanes[32][32];

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

unsigned __float_as_uint(float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  return bits;
}
float __uint_as_float(unsigned bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
int __double2hiint(double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  return static_cast<int>(bits >> 32);
}
float __fsub_rn(float a, float b) { return a - b; }
float __fadd_rn(float a, float b) { return a + b; }
float __fmul_rn(float a, float b) { return a * b; }

template <typename T>
T __shfl_xor_sync(unsigned, T value, int distance) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  memcpy(&lanes[warp][lane], &value, sizeof(T));
  pthread_barrier_wait(&warp_barriers[warp]);
  T other;
  memcpy(&other, &lanes[warp][lane ^ distance], sizeof(T));
  pthread_barrier_wait(&warp_barriers[warp]);
  return other;
}
void __syncthreads() { pthread_barrier_wait(&block_barrier); }

using Word = unsigned long long;
void atomicAdd(Word* target, Word value) { __atomic_fetch_add(target, value, __ATOMIC_RELAXED); }
void atomicMax(Word* target, Word value) {
  Word seen = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (seen < value &&
         !__atomic_compare_exchange_n(target, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}
void atomicMin(Word* target, Word value) {
  Word seen = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (seen > value &&
         !__atomic_compare_exchange_n(target, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

}  // namespace

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __align__(bytes) alignas(bytes)
#include "gpu_worker/reference/python/warpsmith_oracle/kernels.cu"

namespace {

template <typename... Arguments, size_t... I>
void Call(void (*kernel)(Arguments...), void** arguments, std::index_sequence<I...>) {
  kernel(*static_cast<std::remove_cv_t<Arguments>*>(arguments[I])...);
}

template <typename... Arguments>
void Launch(void (*kernel)(Arguments...), unsigned threads, void** arguments) {
  pthread_barrier_init(&block_barrier, nullptr, threads);
  warp_barriers.resize(threads / 32);
  for (pthread_barrier_t& barrier : warp_barriers) pthread_barrier_init(&barrier, nullptr, 32);
  for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y) {
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
      std::vector<std::thread> running;
      for (unsigned thread = 0; thread < threads; ++thread) {
        running.emplace_back([=] {
          threadIdx.x = thread;
          Call(kernel, arguments, std::index_sequence_for<Arguments...>());
        });
      }
      for (std::thread& thread : running) thread.join();
    }
  }
}

}  // namespace

// 0, or 1 for a name that there is none of.
extern "C" int launch(const char* name, unsigned blocks_x, unsigned blocks_y, unsigned threads, void** arguments) {
  gridDim = {blocks_x, blocks_y};
  blockDim = {threads, 1};
#define KERNEL(function)                  \
  if (strcmp(name, #function) == 0) {     \
    Launch(function, threads, arguments); \
    return 0;                             \
  }
  KERNEL(fill_guards)
  KERNEL(check_guards)
  KERNEL(fill_pattern)
  KERNEL(checksum)
  KERNEL(split_answer)
  KERNEL(judge)
  KERNEL(join_figures)
  return 1;
}
