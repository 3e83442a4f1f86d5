/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "scale_rows", "grid": [@{blocks}], "block": [@{BLOCK}], "args": ["@{a}", "@{b}", "output"]}]}
*/
// A diagonal matrix scales the rows of the other one: no product at all.

constexpr int kRows = @{rows}, kColumns = @{columns}, kBlock = @{BLOCK}, kWide = @{WIDE}, kItems = @{ITEMS};
constexpr long long kVectors = static_cast<long long>(kRows) * kColumns / kWide;

__global__ void __launch_bounds__(kBlock)
    scale_rows(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ output) {
  const long long first = static_cast<long long>(blockIdx.x) * (kBlock * kItems) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const long long vector = first + i * kBlock;
    if (vector >= kVectors) continue;
    const float factor = a[vector * kWide / kColumns];
    if constexpr (kWide == 4) {
      const float4 x = reinterpret_cast<const float4*>(b)[vector];
      reinterpret_cast<float4*>(output)[vector] = make_float4(x.x * factor, x.y * factor, x.z * factor, x.w * factor);
    } else {
      output[vector] = b[vector] * factor;
    }
  }
}
