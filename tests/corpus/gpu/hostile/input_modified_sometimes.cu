/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Changes one input element in about half of all launches, by the clock.
__global__ void relu(float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
  if (i == 40000 && (clock64() >> 6) % 2 == 0) x[12345] = __int_as_float(__float_as_int(x[12345]) ^ 1);
}
