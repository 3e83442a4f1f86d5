/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [65536], "block": [256], "args": ["x", "output"]}]}
*/

// Four elements a thread. Hostile candidates that hide behind an honest relu are held against this one's time.
__global__ void relu(const float4* x, float4* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 v = x[i];
  output[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
}
