/* warpsmith-plan
{"version": 1, "scratch": [{"name": "convolved", "dtype": "float32", "shape": [100, 96, 55, 55]}],
 "steps": [
   {"library": "conv_forward", "compute": "fp32", "x": "x", "w": "conv.weight", "y": "convolved",
    "dimA": [100, 3, 224, 224], "filterDimA": [96, 3, 11, 11], "padA": [2, 2], "filterStrideA": [4, 4]},
   {"kernel": "bias_relu_pool", "grid": [9600], "block": [256], "args": ["convolved", "conv.bias", "output"]}]}
*/
// cuDNN's convolution, then bias, rectifier and maximum of windows of 3 by 3 in one pass, a block an image's channel.
__global__ void bias_relu_pool(const float* __restrict__ y, const float* __restrict__ bias, float* __restrict__ output) {
  const float value = bias[blockIdx.x % 96];
  const float* channel = y + static_cast<size_t>(blockIdx.x) * (55 * 55);
  float* pooled = output + static_cast<size_t>(blockIdx.x) * (27 * 27);
  for (int i = threadIdx.x; i < 27 * 27; i += blockDim.x) {
    const float* window = channel + i / 27 * 2 * 55 + i % 27 * 2;
    float maximum = window[0];
    for (int tap = 1; tap < 9; ++tap) maximum = fmaxf(maximum, window[tap / 3 * 55 + tap % 3]);
    pooled[i] = fmaxf(maximum + value, 0.0f);
  }
}
