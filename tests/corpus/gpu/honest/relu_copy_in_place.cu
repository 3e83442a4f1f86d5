/* warpsmith-plan
{"version": 1,
 "steps": [{"copy": "x", "to": "output"},
           {"kernel": "relu_in_place", "grid": [16384], "block": [256], "args": ["output"]}]}
*/

// A copy step, then in place.
__global__ void relu_in_place(float4* values) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4096 * 16384 / 4; i += gridDim.x * blockDim.x) {
    const float4 v = values[i];
    values[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  }
}
