/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"repeat": 16, "index": "row", "steps": [{"kernel": "relu_row", "grid": ["1 + (4099 - 4099 % 256) / 256"], "block": [256], "args": [{"tensor": "x", "offset": "row * 4099"}, {"tensor": "output", "offset": "row*4099"}, {"i32": "4000 + 99"}, {"f32": 0.0}]}]}]}
*/

__global__ void relu_row(const float* x, float* output, int count, float floor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) output[i] = x[i] < floor ? floor : x[i];
}
