/* warpsmith-plan
{"version": 1, "scratch": [{"name": "parts", "dtype": "float32", "shape": [@{splits}, @{rows}]}],
 "steps": [{"kernel": "multiply", "grid": [@{splits}, @{rows}], "block": [@{BLOCK}], "args": ["@{a}", "@{b}", "parts"]},
           {"kernel": "add_parts", "grid": [@{result_blocks}], "block": [256], "args": ["parts", "output"]}]}
*/
// Blocks share a row's columns; each adds its products in registers, then through shuffles and shared memory. A second
// launch adds the parts in a fixed order.

constexpr int kRows = @{rows}, kColumns = @{columns}, kSplits = @{splits};
constexpr int kBlock = @{BLOCK}, kWide = @{WIDE}, kTogether = @{TOGETHER}, kWarps = kBlock / 32;
constexpr int kPart = (kColumns / kWide + kSplits - 1) / kSplits * kWide;

__global__ void __launch_bounds__(kBlock)
    multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ parts) {
  __shared__ float of_warps[kWarps];
  const float* row = a + static_cast<size_t>(blockIdx.y) * kColumns;
  const int begin = blockIdx.x * kPart, end = begin + kPart < kColumns ? begin + kPart : kColumns;
  float sum = 0.0f;
  for (int first = begin + threadIdx.x * kWide; first < end; first += kBlock * kWide * kTogether) {
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = first + i * kBlock * kWide;
      if (at >= end) continue;
      if constexpr (kWide == 4) {
        const float4 x = *reinterpret_cast<const float4*>(row + at), y = *reinterpret_cast<const float4*>(b + at);
        part += (x.x * y.x + x.y * y.y) + (x.z * y.z + x.w * y.w);
      } else {
        part += row[at] * b[at];
      }
    }
    sum += part;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < kWarps; ++warp) sum += of_warps[warp];
    parts[static_cast<size_t>(blockIdx.x) * kRows + blockIdx.y] = sum;
  }
}

__global__ void add_parts(const float* __restrict__ parts, float* __restrict__ output) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= kRows) return;
  float sum = 0.0f;
  for (int split = 0; split < kSplits; ++split) sum += parts[static_cast<size_t>(split) * kRows + row];
  output[row] = sum;
}
