/* warpsmith-plan
{"version": 1, "scratch": [{"name": "losses", "dtype": "float32", "shape": [@{rows}]}],
 "steps": [{"kernel": "of_rows", "grid": [@{row_blocks}], "block": [@{BLOCK}], "args": ["@{predictions}", "@{targets}", "losses"]},
           {"kernel": "mean_of_rows", "grid": [1], "block": [1024], "args": ["losses", "output"]}]}
*/
// kOfRow threads a row: one walk keeps a running maximum and the sum of exponentials over it, a group of kGroup elements
// at a time. The rows' losses are averaged by one block in the second launch.

constexpr int kClasses = @{classes}, kRows = @{rows}, kBlock = @{BLOCK}, kOfRow = @{ROW_THREADS}, kGroup = @{GROUP};
constexpr int kWarps = kOfRow / 32;
constexpr float kLog2E = 1.44269504f;

__device__ __forceinline__ float lowest() { return -__int_as_float(0x7f800000); }

__device__ __forceinline__ void join(float& maximum, float& sum, float other_maximum, float other_sum) {
  const float highest = fmaxf(maximum, other_maximum);
  if (highest == lowest()) return;
  sum = sum * exp2f((maximum - highest) * kLog2E) + other_sum * exp2f((other_maximum - highest) * kLog2E);
  maximum = highest;
}

__global__ void __launch_bounds__(kBlock)
    of_rows(const float* __restrict__ predictions, const long long* __restrict__ targets, float* __restrict__ losses) {
  __shared__ float maxima[kBlock / 32], sums[kBlock / 32];
  const int lane = threadIdx.x % kOfRow, row = blockIdx.x * (kBlock / kOfRow) + threadIdx.x / kOfRow;
  const float* from = predictions + static_cast<size_t>(row < kRows ? row : kRows - 1) * kClasses;
  float maximum = lowest(), sum = 0.0f;
  for (int first = lane; first < kClasses; first += kOfRow * kGroup) {
    float x[kGroup];
#pragma unroll
    for (int i = 0; i < kGroup; ++i) x[i] = first + i * kOfRow < kClasses ? from[first + i * kOfRow] : lowest();
    float highest = x[0];
#pragma unroll
    for (int i = 1; i < kGroup; ++i) highest = fmaxf(highest, x[i]);
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) part += exp2f((x[i] - highest) * kLog2E);
    join(maximum, sum, highest, part);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    join(maximum, sum, __shfl_xor_sync(0xffffffffu, maximum, offset), __shfl_xor_sync(0xffffffffu, sum, offset));
  }
  if constexpr (kWarps > 1) {
    if (threadIdx.x % 32 == 0) {
      maxima[threadIdx.x / 32] = maximum;
      sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    const int first_warp = threadIdx.x / kOfRow * kWarps;
    maximum = maxima[first_warp];
    sum = sums[first_warp];
    for (int warp = 1; warp < kWarps; ++warp) join(maximum, sum, maxima[first_warp + warp], sums[first_warp + warp]);
  }
  if (lane == 0 && row < kRows) losses[row] = maximum - from[targets[row]] + logf(sum);
}

__global__ void __launch_bounds__(1024) mean_of_rows(const float* __restrict__ losses, float* __restrict__ output) {
  __shared__ float of_warps[32];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < kRows; i += 1024) sum += losses[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = of_warps[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) output[0] = sum / kRows;
  }
}
