/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

#include <cooperative_groups.h>

// A barrier over the grid in a launch that is not cooperative.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cooperative_groups::this_grid().sync();
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
}
