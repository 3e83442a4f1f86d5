/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Ends its kernel within inline PTX and begins another one.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
  asm volatile("ret;\n}\n.global .u32 counter;\n.visible .entry evil()\n{\nst.global.u32 [counter], 1;\n");
}
