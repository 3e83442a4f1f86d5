/* warpsmith-plan
{"version": 1,
 "steps": [{"repeat": 16, "index": "t", "steps": [
   {"kernel": "relu_rows", "grid": [1024], "block": [256],
    "args": [{"tensor": "x", "offset": "t*256*16384"}, {"tensor": "output", "offset": "t*256*16384"},
             {"i32": "256*16384/4"}]}]}]}
*/

// Sixteen launches over views of 256 rows each.
extern "C" __global__ void relu_rows(const float4* x, float4* output, int quads) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const float4 v = x[i];
    output[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  }
}
