#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

namespace cg = cooperative_groups;

__constant__ float weights[4] = {1.0f, 2.0f, 3.0f, 4.0f};

extern "C" __global__ void vector_add(const float* __restrict__ x, const float* __restrict__ y, float* z, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] = x[i] + y[i];
}

__device__ __forceinline__ float warp_sum(float v) {
  for (int delta = 16; delta > 0; delta /= 2) v += __shfl_down_sync(0xffffffff, v, delta);
  return v;
}

template <int Threads>
__global__ void __launch_bounds__(Threads) block_sum(const float* x, float* out, int columns) {
  __shared__ float partial[Threads / 32];
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += Threads) sum += x[blockIdx.x * columns + i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < Threads / 32 ? partial[threadIdx.x] : 0.0f;
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

__global__ void softmax(const float* x, float* y, int columns) {
  extern __shared__ float row[];
  __shared__ float shared_max, shared_sum;
  const float4* from = reinterpret_cast<const float4*>(x + blockIdx.x * columns);
  for (int i = threadIdx.x; i < columns / 4; i += blockDim.x) reinterpret_cast<float4*>(row)[i] = __ldg(from + i);
  __syncthreads();
  if (threadIdx.x == 0) {
    float most = -CUDART_INF_F;
    for (int i = 0; i < columns; ++i) most = fmaxf(most, row[i]);
    shared_max = most;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += blockDim.x) row[i] = __expf(row[i] - shared_max);
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1) {
    float sum = 0;
    for (int i = 0; i < columns; ++i) sum += row[i];
    shared_sum = sum;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += blockDim.x) y[blockIdx.x * columns + i] = row[i] / shared_sum;
}

__global__ void grid_steps(int* counters, int* out) {
  cg::grid_group grid = cg::this_grid();
  __shared__ int kept;
  if (threadIdx.x == 0) kept = blockIdx.x * 1000;
  atomicAdd(&counters[0], 1);
  grid.sync();
  int seen = counters[0];
  atomicAdd(&counters[1], 1);
  grid.sync();
  __syncthreads();
  out[grid.thread_rank()] = kept + (seen == int(grid.size()) && counters[1] == seen ? 1 : 0);
}

__global__ void histogram(const int* x, int n, unsigned* bins, float* sum, unsigned long long* wide) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[x[i] & 15], 1u);
    atomicAdd(sum, 0.5f);
    atomicMax(wide, (unsigned long long)x[i]);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void halves(const __half* a, const __nv_bfloat16* b, __half* h, __nv_bfloat16* f, float* out) {
  h[0] = a[0] + a[1];
  h[1] = a[0] * a[1];
  h[2] = __hfma(a[0], a[1], a[2]);
  h[3] = __float2half(65520.0f);     // rounds to infinity
  h[4] = __float2half_rz(65535.0f);  // the largest finite one
  h[5] = __float2half(2.98e-8f);     // below half of the least subnormal
  h[6] = hsqrt(a[3]);
  h[7] = __hmax(a[0], __ushort_as_half(0x7e00));
  half2 pair = __halves2half2(a[0], a[1]);
  pair = __hfma2(pair, pair, __float2half2_rn(1.0f));
  h[8] = __low2half(pair);
  h[9] = __high2half(pair);
  h[10] = __int2half_rn(2049);  // a tie, to even
  f[0] = b[0] + b[1];
  f[1] = b[0] * b[1];
  f[2] = __float2bfloat16(1.00390625f);      // a tie, to even
  f[3] = __float2bfloat16(1.01171875f);      // a tie, upwards
  f[4] = __double2bfloat16(1.0039062500001);
  out[0] = __half2float(a[0]) + __bfloat162float(b[0]);
  out[1] = a[0] > a[1] ? 1.0f : 2.0f;
  out[2] = float(int(__half(-2.75f)));
}

__global__ void votes(unsigned* out) {
  unsigned lane = threadIdx.x % 32;
  out[0 * 64 + threadIdx.x] = __ballot_sync(0xffffffff, lane % 3 == 0);
  out[1 * 64 + threadIdx.x] = __match_any_sync(0xffffffff, int(lane / 8));
  out[2 * 64 + threadIdx.x] = __reduce_add_sync(0xffffffff, lane);
  out[3 * 64 + threadIdx.x] = __shfl_xor_sync(0xffffffff, lane, 5, 8);
  out[4 * 64 + threadIdx.x] = __shfl_up_sync(0xffffffff, lane, 3, 16);
  int predicate;
  unsigned all = __match_all_sync(0xffffffff, 7, &predicate);
  out[5 * 64 + threadIdx.x] = all + predicate;
  if (lane < 10) out[6 * 64 + threadIdx.x] = __popc(__activemask());
  out[7 * 64 + threadIdx.x] = __syncthreads_count(lane < 5) + 100 * __syncthreads_or(threadIdx.x == 63) +
                              1000 * __syncthreads_and(threadIdx.x < 63);
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  out[8 * 64 + threadIdx.x] = cg::reduce(tile, threadIdx.x, cg::plus<unsigned>());
  out[9 * 64 + threadIdx.x] = cg::inclusive_scan(tile, 1u) + tile.meta_group_rank() * 100;
  if (lane >= 16) return;
  // Lanes that have ended count as arrived.
  out[10 * 64 + threadIdx.x] = __ballot_sync(0xffffffff, 1);
  __syncthreads();
}

__global__ void order(unsigned* ticket, unsigned* out) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = atomicAdd(ticket, 1u);
}

__global__ void increment(int* x) { x[threadIdx.x] += 1; }

__global__ void integers(const int* x, int* out) {
  int zero = x[0], least = x[1], minus = x[2], seven = x[3];
  out[0] = seven / zero;
  out[1] = seven % zero;
  out[2] = least / minus;
  out[3] = least % minus;
  unsigned u = unsigned(seven) / unsigned(zero);
  out[4] = int(u);
  long long wide = (long long)seven / zero;
  out[5] = int(wide >> 32);
  out[6] = __float2int_rz(CUDART_NAN_F);
  out[7] = __float2int_rn(3e9f * seven);
  out[8] = __float2uint_rz(-1.0f * seven);
  out[9] = __clz(zero) * 100 + __ffs(8);
  out[10] = __byte_perm(0x03020100, 0x07060504, 0x7531);
  out[11] = __mulhi(least, 2);
  out[12] = __dp4a(0x01020304, 0x01010101, 5);
  out[13] = __funnelshift_l(0x80000000u, 1u, 1);
  out[14] = seven;
}

__global__ void print(int n) { printf("thread %d says %s %.2f\n", int(threadIdx.x), "hello", 0.5 * n); }

__global__ void heap(int* out) {
  int* p = static_cast<int*>(malloc(64));
  p[3] = 5;
  int* q = new int[4];
  q[0] = p[3] + 1;
  free(p);
  int made = 0;
  while (malloc(1 << 20) != nullptr) ++made;  // eight of them do not fit beside their headers
  out[0] = q[0];
  out[1] = made;
  delete[] q;
}

__global__ void shared_state(int* out) {
  __shared__ int left;
  extern __shared__ int room[];
  out[blockIdx.x * 2] = left;
  out[blockIdx.x * 2 + 1] = room[3];
  left = 77;
  room[3] = 78;
}

struct Pack {
  float a;
  double b;
  int c[3];
};
__global__ void by_value(Pack pack, float* out, short s, bool flag, __half h, unsigned long long wide) {
  out[0] = pack.a + float(pack.b) + pack.c[2] + s + (flag ? 100.0f : 0.0f) + float(h) + float(wide);
  out[1] = weights[threadIdx.x] + weights[3];
}

// A block takes its number when it starts, and waits for the one before.
__global__ void chained(unsigned* state, int* out) {
  __shared__ unsigned number;
  if (threadIdx.x == 0) number = atomicAdd(&state[0], 1u);
  __syncthreads();
  unsigned mine = blockIdx.x;  // not the ticket: the order of blocks may put the one before behind
  if (threadIdx.x == 0) {
    while (mine > 0 && atomicAdd(&state[1], 0u) < mine) __nanosleep(100);
    out[mine] = mine == 0 ? 1 : out[mine - 1] + 1;
    __threadfence();
    atomicAdd(&state[1], 1u);
  }
}

__global__ void write(int* x) { x[0] = 42; }
__global__ void index(int* x) { x[1] = 43; }
__global__ void y1(int* x) { x[2] = 44; }

__global__ void math(const float* x, float* out) {
  out[0] = fmaxf(x[0], CUDART_NAN_F);
  out[1] = fminf(CUDART_NAN_F, x[0]);
  out[2] = rsqrtf(x[1]);
  out[3] = erff(x[0]);
  out[4] = normcdff(x[0]);
  out[5] = erfinvf(0.5f * x[0]);
  out[6] = powf(x[1], 0.5f) + pow(x[1], 2);
  out[7] = __fadd_rz(1.0f, 0x1p-25f * -x[0]);
  out[8] = __fdiv_ru(1.0f, 3.0f * x[0]);
  out[9] = sinpif(0.5f * x[0]) + cospif(x[0]);
  out[10] = float(max(1, 2u) + min(3ll, 2ll)) + max(x[0], 2.0f) + abs(-x[0]);
  out[11] = __saturatef(7.0f * x[0]);
}
