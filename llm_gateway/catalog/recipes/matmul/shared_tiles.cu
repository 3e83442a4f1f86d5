/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "matmul", "grid": ["1 + (@{n} - 1 - (@{n} - 1) % @{TILE}) / @{TILE}",
                                         "1 + (@{m} - 1 - (@{m} - 1) % @{TILE}) / @{TILE}"],
            "block": [@{TILE}, @{TILE}], "args": ["@{a}", "@{b}", "output"]}]}
*/
// Square tiles of both matrices in shared memory, one result a thread.

constexpr int kM = @{m};
constexpr int kN = @{n};
constexpr int kK = @{k};
constexpr int kTile = @{TILE};

__global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * kTile + y;
  const int column = blockIdx.x * kTile + x;
  float sum = 0.0f;
  for (int first = 0; first < kK; first += kTile) {
    a_tile[y][x] = row < kM && first + x < kK ? a[static_cast<size_t>(row) * kK + first + x] : 0.0f;
    b_tile[y][x] = column < kN && first + y < kK ? b[static_cast<size_t>(first + y) * kN + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < kM && column < kN) c[static_cast<size_t>(row) * kN + column] = sum;
}
