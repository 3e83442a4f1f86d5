/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Writes through a null pointer.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* volatile nowhere = nullptr;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
  if (i == 5) *nowhere = 1.0f;
}
