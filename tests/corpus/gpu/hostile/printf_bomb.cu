/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Seventeen thousand lines a launch into the driver's print buffer.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
  if (i % 4 == 0) printf("%d: a line that is long enough to fill a pipe sooner or later, %f\n", i, 1.0 * i);
}
