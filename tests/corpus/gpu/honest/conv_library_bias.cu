/* warpsmith-plan
{"version": 1,
 "steps": [
   {"library": "conv_forward", "compute": "fp32", "x": "x", "w": "conv.weight", "y": "output",
    "dimA": [16, 32, 64, 64], "filterDimA": [64, 32, 3, 3], "padA": [1, 1], "filterStrideA": [1, 1],
    "dilationA": [1, 1]},
   {"kernel": "add_bias", "grid": [4, 1024], "block": [256], "args": ["output", "conv.bias"]}]}
*/

// The library's convolution within the plan's graph, then the bias in place.
__global__ void add_bias(float4* output, const float* bias) {
  const int i = blockIdx.y * 1024 + blockIdx.x * 256 + threadIdx.x;
  const float b = bias[blockIdx.y % 64];
  const float4 v = output[i];
  output[i] = make_float4(v.x + b, v.y + b, v.z + b, v.w + b);
}
