/* warpsmith-plan
{"version": 1, "min_arch": "sm_80", "scratch": [],
 "steps": [{"kernel": "softmax", "grid": [@{rows}], "block": [@{BLOCK}],
            "shared_bytes": @{shared},
            "args": ["@{input}", "output"]}]}
*/
// A row in the shared memory of its block, brought there by asynchronous copies that hold no
// registers: the whole row is in flight at once. A thread reads only what it copied itself.

constexpr int kVectors = @{cols} / 4;  // of a row
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;
#define kInfinity __int_as_float(0x7f800000)
constexpr float kLog2E = 1.44269504f;

__global__ void __launch_bounds__(kBlock) softmax(const float4* __restrict__ input, float4* __restrict__ output) {
  extern __shared__ __align__(16) float4 part[];
  __shared__ float maxima[kWarps], sums[kWarps];
  const size_t from = static_cast<size_t>(blockIdx.x) * kVectors;
#pragma unroll 8
  for (int i = threadIdx.x; i < kVectors; i += kBlock) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(part + i))),
                 "l"(input + from + i)
                 : "memory");
  }
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  float maximum = -kInfinity;
#pragma unroll 8
  for (int i = threadIdx.x; i < kVectors; i += kBlock) {
    const float4 x = part[i];
    maximum = fmaxf(maximum, fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)));
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, offset));
  }
  if (threadIdx.x % 32 == 0) maxima[threadIdx.x / 32] = maximum;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kWarps; ++i) maximum = fmaxf(maximum, maxima[i]);
  const float base = maximum == -kInfinity ? 0.0f : maximum;
  float sum = 0.0f;
#pragma unroll 4
  for (int i = threadIdx.x; i < kVectors; i += kBlock) {
    float4 x = part[i];
    x = make_float4(exp2f((x.x - base) * kLog2E), exp2f((x.y - base) * kLog2E), exp2f((x.z - base) * kLog2E),
                    exp2f((x.w - base) * kLog2E));
    sum += (x.x + x.y) + (x.z + x.w);
    part[i] = x;
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int i = 0; i < kWarps; ++i) total += sums[i];
  const float factor = 1.0f / total;
#pragma unroll 8
  for (int i = threadIdx.x; i < kVectors; i += kBlock) {
    const float4 x = part[i];
    __stcs(output + from + i, make_float4(x.x * factor, x.y * factor, x.z * factor, x.w * factor));
  }
}
