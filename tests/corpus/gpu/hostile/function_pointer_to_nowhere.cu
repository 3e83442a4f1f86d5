/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Jumps to an address of its own making.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  using Function = float (*)(float);
  volatile unsigned long long address = 0x0000123456789a00ull + (x[0] == 12345.0f ? 16 : 0);
  Function function = reinterpret_cast<Function>(address);
  if (i < 16 * 4099) output[i] = fmaxf(function(x[i]), 0.0f);
}
