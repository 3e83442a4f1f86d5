/* warpsmith-plan
{"version": 1, "scratch": [{"name": "partial", "dtype": "float32", "shape": [@{parts}]}],
 "steps": [{"kernel": "sum_squares", "grid": [@{parts}], "block": [@{BLOCK}], "args": ["@{input}", "partial"]},
           {"kernel": "divide", "grid": [@{parts}], "block": [@{BLOCK}], "args": ["@{input}", "partial", "output"]}]}
*/
// Each block sums the squares of its part; in the second launch every block adds the partial sums again, in one order,
// and divides its part. With REVERSE the parts are taken backwards, which finds the last ones in the L2 cache.
constexpr long long kCount = @{count};
constexpr int kParts = @{parts}, kBlock = @{BLOCK}, kWide = @{WIDE}, kTogether = @{TOGETHER}, kWarps = kBlock / 32;
constexpr long long kPart = (kCount / kWide + kParts - 1) / kParts * kWide;
constexpr bool kReverse = @{REVERSE} == 1;

__device__ __forceinline__ float sum_block(float mine) {
  __shared__ float of_warps[kWarps];
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, offset);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  float total = 0.0f;
  for (int warp = 0; warp < kWarps; ++warp) total += of_warps[warp];
  return total;
}

__global__ void __launch_bounds__(kBlock) sum_squares(const float* __restrict__ input, float* __restrict__ partial) {
  const long long begin = blockIdx.x * kPart, end = begin + kPart < kCount ? begin + kPart : kCount;
  float sum = 0.0f;
  for (long long first = begin + threadIdx.x * kWide; first < end; first += kBlock * kWide * kTogether) {
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const long long at = first + i * kBlock * kWide;
      if (at >= end) continue;
      if constexpr (kWide == 4) {
        const float4 x = *reinterpret_cast<const float4*>(input + at);
        part += (x.x * x.x + x.y * x.y) + (x.z * x.z + x.w * x.w);
      } else {
        part += input[at] * input[at];
      }
    }
    sum += part;
  }
  sum = sum_block(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kBlock)
    divide(const float* __restrict__ input, const float* __restrict__ partial, float* __restrict__ output) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < kParts; i += kBlock) sum += partial[i];
  const float norm = sqrtf(sum_block(sum));
  const long long part = kReverse ? kParts - 1 - static_cast<int>(blockIdx.x) : static_cast<int>(blockIdx.x);
  const long long begin = part * kPart, end = begin + kPart < kCount ? begin + kPart : kCount;
#pragma unroll 4
  for (long long at = begin + threadIdx.x * kWide; at < end; at += kBlock * kWide) {
    if constexpr (kWide == 4) {
      const float4 x = *reinterpret_cast<const float4*>(input + at);
      *reinterpret_cast<float4*>(output + at) = make_float4(x.x / norm, x.y / norm, x.z / norm, x.w / norm);
    } else {
      output[at] = input[at] / norm;
    }
  }
}
