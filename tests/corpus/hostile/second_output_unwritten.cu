/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "row_maximum", "grid": [48], "block": [32], "args": ["x", "output0", "output1"]}]}
*/

__global__ void row_maximum(const float* x, float* largest, long long* index) {
  float best = x[blockIdx.x * 256];
  for (int i = 1; i < 256; ++i) best = fmaxf(best, x[blockIdx.x * 256 + i]);
  largest[blockIdx.x] = best;
}
