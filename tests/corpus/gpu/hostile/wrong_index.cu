/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "largest", "grid": [48], "block": [32], "args": ["x", "output0", "output1"]}]}
*/

// Right values, indexes of their neighbours.
__global__ void largest(const float* x, float* values, long long* indexes) {
  if (threadIdx.x > 0) return;
  const float* row = x + blockIdx.x * 256;
  int where = 0;
  for (int i = 1; i < 256; ++i) {
    if (row[i] > row[where]) where = i;
  }
  values[blockIdx.x] = row[where];
  indexes[blockIdx.x] = where ^ 1;
}
