/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "matmul", "grid": [@{grid_x}, @{grid_y}, @{batches}], "block": [@{threads}], "args": ["@{a}", "@{b}", "output"]}]}
*/
// Tiles of both operands in shared memory, whichever way they lie in memory, and kRows x kColumns results a thread. With
// AHEAD the next tile's elements are requested before this one is multiplied. Of a triangular result the tiles beside it
// are zeros that cost nothing.

constexpr int kM = @{m}, kN = @{n}, kK = @{k};
constexpr bool kTransposeA = @{transpose_a} == 1, kTransposeB = @{transpose_b} == 1, kSharedB = @{shared_b} == 1;
constexpr int kTriangle = @{triangle};  // 1: zeros under the diagonal; 2: over it
constexpr int kTileM = @{BM}, kTileN = @{BN}, kTileK = @{BK}, kRows = @{TM}, kColumns = @{TN};
constexpr int kThreadsN = kTileN / kColumns, kThreads = kTileM / kRows * kThreadsN;
constexpr int kLoadsA = kTileM * kTileK / kThreads, kLoadsB = kTileK * kTileN / kThreads;
constexpr bool kAhead = @{AHEAD} == 1;
static_assert(kTileM * kTileK % kThreads == 0 && kTileK * kTileN % kThreads == 0, "threads share the copies evenly");

// Where in the tile a thread's i-th element stands: neighbours in memory go to neighbouring threads.
__device__ __forceinline__ void place_a(int i, int& row, int& k) {
  const int at = threadIdx.x + i * kThreads;
  row = kTransposeA ? at % kTileM : at / kTileK;
  k = kTransposeA ? at / kTileM : at % kTileK;
}

__device__ __forceinline__ void place_b(int i, int& k, int& column) {
  const int at = threadIdx.x + i * kThreads;
  k = kTransposeB ? at % kTileK : at / kTileN;
  column = kTransposeB ? at / kTileK : at % kTileN;
}

__device__ __forceinline__ void request(const float* __restrict__ a, const float* __restrict__ b, int tile_row,
                                        int tile_column, int first, float (&from_a)[kLoadsA], float (&from_b)[kLoadsB]) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    int row, k;
    place_a(i, row, k);
    row += tile_row;
    k += first;
    const size_t at = kTransposeA ? static_cast<size_t>(k) * kM + row : static_cast<size_t>(row) * kK + k;
    from_a[i] = row < kM && k < kK ? a[at] : 0.0f;
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    int k, column;
    place_b(i, k, column);
    k += first;
    column += tile_column;
    const size_t at = kTransposeB ? static_cast<size_t>(column) * kK + k : static_cast<size_t>(k) * kN + column;
    from_b[i] = k < kK && column < kN ? b[at] : 0.0f;
  }
}

__global__ void __launch_bounds__(kThreads)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float of_a[kTileK][kTileM + 1], of_b[kTileK][kTileN + 1];
  const int tile_row = blockIdx.y * kTileM, tile_column = blockIdx.x * kTileN;
  const int my_row = threadIdx.x / kThreadsN, my_column = threadIdx.x % kThreadsN;
  a += static_cast<size_t>(blockIdx.z) * kM * kK;
  if (!kSharedB) b += static_cast<size_t>(blockIdx.z) * kK * kN;
  c += static_cast<size_t>(blockIdx.z) * kM * kN;
  const bool empty = (kTriangle == 1 && tile_row > tile_column + kTileN - 1) ||
                     (kTriangle == 2 && tile_column > tile_row + kTileM - 1);
  float sums[kRows][kColumns] = {};
  if (!empty) {
    float from_a[kLoadsA], from_b[kLoadsB];
    if (kAhead) request(a, b, tile_row, tile_column, 0, from_a, from_b);
    for (int first = 0; first < kK; first += kTileK) {
      if (!kAhead) request(a, b, tile_row, tile_column, first, from_a, from_b);
#pragma unroll
      for (int i = 0; i < kLoadsA; ++i) {
        int row, k;
        place_a(i, row, k);
        of_a[k][row] = from_a[i];
      }
#pragma unroll
      for (int i = 0; i < kLoadsB; ++i) {
        int k, column;
        place_b(i, k, column);
        of_b[k][column] = from_b[i];
      }
      __syncthreads();
      if (kAhead && first + kTileK < kK) request(a, b, tile_row, tile_column, first + kTileK, from_a, from_b);
#pragma unroll 8
      for (int k = 0; k < kTileK; ++k) {
        float left[kRows], right[kColumns];
#pragma unroll
        for (int i = 0; i < kRows; ++i) left[i] = of_a[k][my_row + i * (kTileM / kRows)];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) right[j] = of_b[k][my_column + j * kThreadsN];
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j) sums[i][j] += left[i] * right[j];
        }
      }
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const int row = tile_row + my_row + i * (kTileM / kRows), column = tile_column + my_column + j * kThreadsN;
      const bool zero = (kTriangle == 1 && row > column) || (kTriangle == 2 && column > row);
      if (row < kM && column < kN) c[static_cast<size_t>(row) * kN + column] = zero ? 0.0f : sums[i][j];
    }
  }
}
