/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu", "grid": ["1 + (65584 - 1 - (65584 - 1) % (BLOCK * ITEMS)) / (BLOCK * ITEMS)"], "block": ["BLOCK"], "args": ["x", "output"]}], "tune": {"BLOCK": [128, 256], "ITEMS": [1, 4]}}
*/

__global__ void relu(const float* x, float* output) {
  for (int j = 0; j < ITEMS; ++j) {
    const int i = (blockIdx.x * ITEMS + j) * BLOCK + threadIdx.x;
    if (i < 16 * 4099) output[i] = x[i] < 0.0f ? 0.0f : x[i];
  }
}
