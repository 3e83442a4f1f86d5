/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [
   {"library": "conv_forward", "compute": "fp32", "x": "x", "w": "conv.weight", "y": "output",
    "dimA": [100, 3, 224, 224], "filterDimA": [96, 3, 11, 11], "padA": [2, 2], "filterStrideA": [4, 4]},
   {"kernel": "add_bias", "grid": [9600], "block": [256], "args": ["output", "conv.bias"]}]}
*/
// cuDNN's convolution, then the bias, a block an image's channel of 55 by 55.
__global__ void add_bias(float* y, const float* bias) {
  const float value = bias[blockIdx.x % 96];
  float* channel = y + static_cast<size_t>(blockIdx.x) * (55 * 55);
  for (int i = threadIdx.x; i < 55 * 55; i += blockDim.x) channel[i] += value;
}
