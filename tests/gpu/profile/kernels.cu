// What the profiler is tried on: kernels whose traffic and work are known.

extern "C" __global__ void copy_all(const float4* source, float4* target, long long count) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    target[i] = source[i];
  }
}

// C = A B of n x n, a tile of 128 x 128 a block of 256 threads, 8 x 8 a thread: n³ fused multiply-adds. The next tile
// is on its way while this one is used.
extern "C" __global__ void __launch_bounds__(256, 2) matmul_tile(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[2][8][128 + 4];
  __shared__ float tile_b[2][8][128];
  const int row = blockIdx.y * 128, column = blockIdx.x * 128;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int a_row = threadIdx.x / 2, a_k = threadIdx.x % 2 * 4;
  const int b_k = threadIdx.x / 32, b_column = threadIdx.x % 32 * 4;
  const float* next_a = a + static_cast<size_t>(row + a_row) * n + a_k;
  const float* next_b = b + static_cast<size_t>(b_k) * n + column + b_column;
  float sum[8][8] = {};
  float4 from_a = *reinterpret_cast<const float4*>(next_a);
  float4 from_b = *reinterpret_cast<const float4*>(next_b);
  for (int k = 0, now = 0; k < n; k += 8, now ^= 1) {
    tile_a[now][a_k + 0][a_row] = from_a.x;
    tile_a[now][a_k + 1][a_row] = from_a.y;
    tile_a[now][a_k + 2][a_row] = from_a.z;
    tile_a[now][a_k + 3][a_row] = from_a.w;
    *reinterpret_cast<float4*>(&tile_b[now][b_k][b_column]) = from_b;
    __syncthreads();
    if (k + 8 < n) {
      next_a += 8;
      next_b += static_cast<size_t>(8) * n;
      from_a = *reinterpret_cast<const float4*>(next_a);
      from_b = *reinterpret_cast<const float4*>(next_b);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float of_a[8], of_b[8];
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        *reinterpret_cast<float4*>(of_a + j) = *reinterpret_cast<const float4*>(&tile_a[now][i][j * 16 + y * 4]);
        *reinterpret_cast<float4*>(of_b + j) = *reinterpret_cast<const float4*>(&tile_b[now][i][j * 16 + x * 4]);
      }
#pragma unroll
      for (int p = 0; p < 8; ++p) {
#pragma unroll
        for (int q = 0; q < 8; ++q) sum[p][q] += of_a[p] * of_b[q];
      }
    }
  }
  for (int p = 0; p < 8; ++p) {
    const size_t at = static_cast<size_t>(row + (p / 4) * 64 + y * 4 + p % 4) * n + column;
    for (int q = 0; q < 8; ++q) c[at + (q / 4) * 64 + x * 4 + q % 4] = sum[p][q];
  }
}

// Reads a column of a 32 x 32 tile: all 32 lanes in one bank.
extern "C" __global__ void __launch_bounds__(1024) conflicts(float* out, int rounds) {
  __shared__ volatile float tile[32 * 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < rounds; ++i) sum += tile[lane * 32 + (warp + i) % 32];
  out[static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

// One lane of each warp follows its own chain of indexes through memory that no cache holds.
extern "C" __global__ void chase(const unsigned* next, unsigned* out, unsigned mask, int hops) {
  if (threadIdx.x % 32 != 0) return;
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u & mask;
  for (int i = 0; i < hops; ++i) at = (next[at] + at * 1664525u + 1013904223u) & mask;
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

extern "C" __global__ void tiny(float* out) {
  if (threadIdx.x == 0) out[blockIdx.x] += 1.0f;
}
