/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "convolve", "grid": [1024], "block": [256], "args": ["x", "conv.weight", "conv.bias", "output"]}]}
*/

// A product of filters (64 x 288) and patches (288 x 65536) whose patches are only ever in shared memory.
constexpr int kChannels = 32, kFilters = 64, kSide = 64, kInner = kChannels * 9;

__global__ void __launch_bounds__(256)
    convolve(const float* x, const float* weight, const float* bias, float* output) {
  __shared__ __align__(16) float w[16][68], p[16][64];
  const int image = blockIdx.x / kSide, row = blockIdx.x % kSide;  // 64 output pixels: one row of one image
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sums[4][4] = {};
  for (int k = 0; k < kInner; k += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      w[i % 16][i / 16] = weight[i / 16 * kInner + k + i % 16];
      const int inner = k + i / 64, channel = inner / 9, y = row + inner % 9 / 3 - 1, column = i % 64 + inner % 3 - 1;
      const bool inside = y >= 0 && y < kSide && column >= 0 && column < kSide;
      p[i / 64][i % 64] = inside ? x[((image * kChannels + channel) * kSide + y) * kSide + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
#pragma unroll
      for (int m = 0; m < 4; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) sums[m][n] = fmaf(w[i][ty * 4 + m], p[i][tx * 4 + n], sums[m][n]);
      }
    }
    __syncthreads();
  }
  for (int m = 0; m < 4; ++m) {
    const int filter = ty * 4 + m;
    const float b = bias[filter];
    float* out = output + ((image * kFilters + filter) * kSide + row) * kSide + tx * 4;
    for (int n = 0; n < 4; ++n) out[n] = sums[m][n] + b;
  }
}
