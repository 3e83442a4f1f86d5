/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "matmul",
            "grid": ["1 + (@{n} - 1 - (@{n} - 1) % @{BN}) / @{BN}", "1 + (@{m} - 1 - (@{m} - 1) % @{BM}) / @{BM}"],
            "block": ["@{BM} / @{TM} * (@{BN} / @{TN})"], "args": ["@{a}", "@{b}", "output"]}]}
*/
// Shared tiles feed a tile of results in each thread's registers.

constexpr int kM = @{m};
constexpr int kN = @{n};
constexpr int kK = @{k};
constexpr int kTileM = @{BM};
constexpr int kTileN = @{BN};
constexpr int kTileK = @{BK};
constexpr int kRows = @{TM};     // results of a thread
constexpr int kColumns = @{TN};
constexpr int kThreadsN = kTileN / kColumns;
constexpr int kThreads = kTileM / kRows * kThreadsN;
static_assert(kTileM * kTileK % kThreads == 0 && kTileK * kTileN % kThreads == 0, "the block must divide its tiles");

__global__ void __launch_bounds__(kThreads)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float a_tile[kTileK][kTileM + 1];  // transposed; padded against bank conflicts of the scattered stores
  __shared__ float b_tile[kTileK][kTileN];
  const int thread = threadIdx.x;
  const int tile_row = blockIdx.y * kTileM;
  const int tile_column = blockIdx.x * kTileN;
  const int my_row = thread / kThreadsN * kRows;
  const int my_column = thread % kThreadsN * kColumns;

  float sums[kRows][kColumns] = {};
  for (int first = 0; first < kK; first += kTileK) {
#pragma unroll
    for (int i = thread; i < kTileM * kTileK; i += kThreads) {
      const int row = tile_row + i / kTileK;
      const int k = first + i % kTileK;
      a_tile[i % kTileK][i / kTileK] = row < kM && k < kK ? a[static_cast<size_t>(row) * kK + k] : 0.0f;
    }
#pragma unroll
    for (int i = thread; i < kTileK * kTileN; i += kThreads) {
      const int k = first + i / kTileN;
      const int column = tile_column + i % kTileN;
      b_tile[i / kTileN][i % kTileN] = k < kK && column < kN ? b[static_cast<size_t>(k) * kN + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < kTileK; ++k) {
      float left[kRows];
      float right[kColumns];
#pragma unroll
      for (int i = 0; i < kRows; ++i) left[i] = a_tile[k][my_row + i];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) right[j] = b_tile[k][my_column + j];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) sums[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int row = tile_row + my_row + i;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const int column = tile_column + my_column + j;
      if (row < kM && column < kN) c[static_cast<size_t>(row) * kN + column] = sums[i][j];
    }
  }
}
