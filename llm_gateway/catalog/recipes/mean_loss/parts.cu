/* warpsmith-plan
{"version": 1, "scratch": [{"name": "partial", "dtype": "float32", "shape": [@{parts}]}],
 "steps": [{"kernel": "sum_parts", "grid": [@{parts}], "block": [@{BLOCK}], "args": ["@{predictions}", "@{targets}", "partial"]},
           {"kernel": "finish", "grid": [1], "block": [256], "args": ["partial", "output"]}]}
*/
// Each block adds the terms of its part; the second launch adds the partial sums in a fixed order. kTogether vectors are
// requested before the first is used, and added among themselves before they reach the running sum.

enum class Loss { mse_loss, MSELoss = mse_loss, smooth_l1_loss, SmoothL1Loss = smooth_l1_loss, HuberLoss = smooth_l1_loss, kl_div, KLDivLoss = kl_div, hinge };
constexpr Loss kLoss = Loss::@{loss};
constexpr long long kCount = @{count};
constexpr int kParts = @{parts}, kBlock = @{BLOCK}, kWide = @{WIDE}, kTogether = @{TOGETHER}, kWarps = kBlock / 32;
constexpr long long kPart = (kCount / kWide + kParts - 1) / kParts * kWide;
constexpr int kTargets = @{targets.numel};  // fewer than predictions where they are broadcast along rows

__device__ __forceinline__ float term(float prediction, float target) {
  const float difference = prediction - target;
  if constexpr (kLoss == Loss::mse_loss) return difference * difference;
  if constexpr (kLoss == Loss::smooth_l1_loss) {
    const float size = fabsf(difference);
    return size < 1.0f ? 0.5f * difference * difference : size - 0.5f;
  }
  if constexpr (kLoss == Loss::kl_div) {  // predictions are probabilities whose logarithm the module takes
    return target > 0.0f ? target * (logf(target) - logf(prediction)) : 0.0f;
  }
  const float margin = 1.0f - prediction * target;
  return margin > 0.0f ? margin : 0.0f;
}

__device__ __forceinline__ float sum_block(float mine) {
  __shared__ float of_warps[32];
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, offset);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  float total = 0.0f;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) total += of_warps[warp];
  return total;
}

__global__ void __launch_bounds__(kBlock)
    sum_parts(const float* __restrict__ predictions, const float* __restrict__ targets, float* __restrict__ partial) {
  const long long begin = blockIdx.x * kPart, end = begin + kPart < kCount ? begin + kPart : kCount;
  float sum = 0.0f;
  for (long long first = begin + threadIdx.x * kWide; first < end; first += kBlock * kWide * kTogether) {
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const long long at = first + i * kBlock * kWide;
      if (at >= end) continue;
      if constexpr (kWide == 4) {
        const float4 p = *reinterpret_cast<const float4*>(predictions + at);
        const float4 t = *reinterpret_cast<const float4*>(targets + at % kTargets);
        part += (term(p.x, t.x) + term(p.y, t.y)) + (term(p.z, t.z) + term(p.w, t.w));
      } else {
        part += term(predictions[at], targets[at % kTargets]);
      }
    }
    sum += part;
  }
  sum = sum_block(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(256) finish(const float* __restrict__ partial, float* __restrict__ output) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < kParts; i += 256) sum += partial[i];
  sum = sum_block(sum);
  if (threadIdx.x == 0) output[0] = sum / static_cast<float>(@{elements});
}
