/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "fused", "grid": [27, 4, 16], "block": [256],
            "args": ["x", "conv.weight", "conv.bias", "output"]}]}
*/

// Convolution, ReLU and maximum pool in one launch: a block makes one pooled row of eight filters from the three rows
// of the convolution that it needs, which never leave shared memory.
constexpr int kIn = 112, kConv = 56, kPool = 27;

__global__ void fused(const float* x, const float* weight, const float* bias, float* output) {
  __shared__ float w[8][147];
  __shared__ float rows[8][3][kConv];
  const int pooled = blockIdx.x, filters = blockIdx.y * 8, image = blockIdx.z;
  for (int i = threadIdx.x; i < 8 * 147; i += 256) w[i / 147][i % 147] = weight[(filters + i / 147) * 147 + i % 147];
  __syncthreads();
  for (int i = threadIdx.x; i < 8 * 3 * kConv; i += 256) {
    const int filter = i / (3 * kConv), row = i / kConv % 3, column = i % kConv;
    const int top = (pooled * 2 + row) * 2 - 3, left = column * 2 - 3;
    float sum = bias[filters + filter];
    for (int channel = 0; channel < 3; ++channel) {
      for (int dy = 0; dy < 7; ++dy) {
        if (top + dy < 0 || top + dy >= kIn) continue;
        const float* line = x + ((image * 3 + channel) * kIn + top + dy) * kIn;
        for (int dx = 0; dx < 7; ++dx) {
          if (left + dx < 0 || left + dx >= kIn) continue;
          sum = fmaf(line[left + dx], w[filter][(channel * 7 + dy) * 7 + dx], sum);
        }
      }
    }
    rows[filter][row][column] = fmaxf(sum, 0.0f);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 8 * kPool; i += 256) {
    const int filter = i / kPool, column = i % kPool;
    float largest = 0.0f;
    for (int row = 0; row < 3; ++row) {
      for (int dx = 0; dx < 3; ++dx) largest = fmaxf(largest, rows[filter][row][column * 2 + dx]);
    }
    output[((image * 32 + filters + filter) * kPool + pooled) * kPool + column] = largest;
  }
}
