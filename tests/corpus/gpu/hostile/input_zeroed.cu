/* warpsmith-plan
{"version": 1,
 "steps": [
   {"kernel": "relu", "grid": [65536], "block": [256], "args": ["x", "output"]},
   {"kernel": "clear", "grid": [65536], "block": [256], "args": ["x"]}]}
*/

// Right, and then clears its input: a reference that runs later on the same tensor gives zeros.
__global__ void relu(const float4* x, float4* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 v = x[i];
  output[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
}

__global__ void clear(float4* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(0.0f, 0.0f, 0.0f, 0.0f); }
