/* warpsmith-plan
{"version": 1, "scratch": [{"name": "parts", "dtype": "float32", "shape": [@{SPLITS}, @{m}, @{n}]}],
 "steps": [{"kernel": "matmul_part",
            "grid": ["1 + (@{n} - 1 - (@{n} - 1) % @{BN}) / @{BN}", "1 + (@{m} - 1 - (@{m} - 1) % @{BM}) / @{BM}",
                     @{SPLITS}],
            "block": ["@{BM} / @{TM} * (@{BN} / @{TN})"],
            "args": ["@{a}", "@{b}", "parts"]},
           {"kernel": "add_parts", "grid": ["1 + (@{m} * @{n} / 4 - 1 - (@{m} * @{n} / 4 - 1) % 128) / 128"],
            "block": [128], "args": ["parts", "output"]}]}
*/
// Blocks share a tile of the product along K; a second launch adds their parts in a fixed order.

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
constexpr int kLoadsA = kTileM * kTileK / 4 / kThreads;  // float4 of a tile for each thread
constexpr int kLoadsB = kTileK * kTileN / 4 / kThreads;
static_assert(kTileM * kTileK / 4 % kThreads == 0, "the block must divide its tile of A");
static_assert(kTileK * kTileN / 4 % kThreads == 0, "the block must divide its tile of B");
static_assert(kRows % 4 == 0 && kColumns % 4 == 0 && kTileK % 4 == 0, "tiles are read four elements at a time");
constexpr int kSplits = @{SPLITS};
constexpr int kSteps = (kK + kTileK - 1) / kTileK;
constexpr int kPart = (kSteps + kSplits - 1) / kSplits * kTileK;  // along K, a multiple of the tile

// This thread's part of the tiles that begin at `first` along K; zero outside the matrices.
__device__ __forceinline__ void load_tiles(const float* a, const float* b, int tile_row, int tile_column, int first,
                                           int end, float4 (&from_a)[kLoadsA], float4 (&from_b)[kLoadsB]) {
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const int vector = threadIdx.x + i * kThreads;
    const int row = tile_row + vector / (kTileK / 4);
    const int k = first + vector % (kTileK / 4) * 4;
    from_a[i] = row < kM && k < end ? *reinterpret_cast<const float4*>(a + static_cast<size_t>(row) * kK + k) : zero;
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const int vector = threadIdx.x + i * kThreads;
    const int k = first + vector / (kTileN / 4);
    const int column = tile_column + vector % (kTileN / 4) * 4;
    from_b[i] =
        k < end && column < kN ? *reinterpret_cast<const float4*>(b + static_cast<size_t>(k) * kN + column) : zero;
  }
}

struct Tiles {
  float a[kTileK][kTileM + 4];  // transposed; padded so that rows stay on sixteen bytes
  float b[kTileK][kTileN];
};

__device__ __forceinline__ void store_tiles(Tiles& tiles, const float4 (&from_a)[kLoadsA],
                                            const float4 (&from_b)[kLoadsB]) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const int vector = threadIdx.x + i * kThreads;
    const int row = vector / (kTileK / 4);
    const int k = vector % (kTileK / 4) * 4;
    tiles.a[k][row] = from_a[i].x;
    tiles.a[k + 1][row] = from_a[i].y;
    tiles.a[k + 2][row] = from_a[i].z;
    tiles.a[k + 3][row] = from_a[i].w;
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const int vector = threadIdx.x + i * kThreads;
    *reinterpret_cast<float4*>(&tiles.b[vector / (kTileN / 4)][vector % (kTileN / 4) * 4]) = from_b[i];
  }
}

// A thread's columns are groups of four, each group four columns for each thread of a row apart.
__device__ __forceinline__ void multiply_tiles(const Tiles& tiles, float (&sums)[kRows][kColumns]) {
  const int my_row = threadIdx.x / kThreadsN * kRows;
  const int my_column = threadIdx.x % kThreadsN * 4;
#pragma unroll 4
  for (int k = 0; k < kTileK; ++k) {
    float left[kRows];
    float right[kColumns];
#pragma unroll
    for (int i = 0; i < kRows; i += 4) {
      const float4 vector = *reinterpret_cast<const float4*>(&tiles.a[k][my_row + i]);
      left[i] = vector.x;
      left[i + 1] = vector.y;
      left[i + 2] = vector.z;
      left[i + 3] = vector.w;
    }
#pragma unroll
    for (int j = 0; j < kColumns; j += 4) {
      const float4 vector = *reinterpret_cast<const float4*>(&tiles.b[k][my_column + j * kThreadsN]);
      right[j] = vector.x;
      right[j + 1] = vector.y;
      right[j + 2] = vector.z;
      right[j + 3] = vector.w;
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) sums[i][j] += left[i] * right[j];
    }
  }
}

__device__ __forceinline__ void store_sums(float* c, int tile_row, int tile_column,
                                           const float (&sums)[kRows][kColumns]) {
  const int first_row = tile_row + threadIdx.x / kThreadsN * kRows;
  const int first_column = tile_column + threadIdx.x % kThreadsN * 4;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; j += 4) {
      const int column = first_column + j * kThreadsN;
      if (first_row + i < kM && column < kN) {
        *reinterpret_cast<float4*>(c + static_cast<size_t>(first_row + i) * kN + column) =
            make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    matmul_part(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ parts) {
  __shared__ __align__(16) Tiles tiles;
  const int tile_row = blockIdx.y * kTileM;
  const int tile_column = blockIdx.x * kTileN;
  const int begin = blockIdx.z * kPart;
  const int end = begin + kPart < kK ? begin + kPart : kK;
  float sums[kRows][kColumns] = {};
  for (int first = begin; first < end; first += kTileK) {
    float4 from_a[kLoadsA];
    float4 from_b[kLoadsB];
    load_tiles(a, b, tile_row, tile_column, first, end, from_a, from_b);
    store_tiles(tiles, from_a, from_b);
    __syncthreads();
    multiply_tiles(tiles, sums);
    __syncthreads();
  }
  store_sums(parts + static_cast<size_t>(blockIdx.z) * kM * kN, tile_row, tile_column, sums);
}

__global__ void add_parts(const float4* __restrict__ parts, float4* __restrict__ c) {
  constexpr int kVectors = kM * (kN / 4);
  const int vector = blockIdx.x * blockDim.x + threadIdx.x;
  if (vector >= kVectors) return;
  float4 sum = parts[vector];
#pragma unroll
  for (int split = 1; split < kSplits; ++split) {
    const float4 part = parts[static_cast<size_t>(split) * kVectors + vector];
    sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
  }
  c[vector] = sum;
}
