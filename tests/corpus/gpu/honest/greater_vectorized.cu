/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "greater_than", "grid": [16384], "block": [256], "args": ["x", "y", "output"]}]}
*/

// A boolean output, four at a time.
__global__ void greater_than(const float4* x, const float4* y, uchar4* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 a = x[i], b = y[i];
  output[i] = make_uchar4(a.x > b.x, a.y > b.y, a.z > b.z, a.w > b.w);
}
