/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "row_maximum", "grid": [48], "block": [32], "args": ["x", "output0", "output1"]}]}
*/

__global__ void row_maximum(const float* x, float* largest, long long* index) {
  const float* row = x + blockIdx.x * 256;
  float best = row[threadIdx.x];
  int place = threadIdx.x;
  for (int i = threadIdx.x + 32; i < 256; i += 32) {
    if (row[i] > best) {
      best = row[i];
      place = i;
    }
  }
  for (int o = 16; o > 0; o /= 2) {
    const float other = __shfl_down_sync(0xffffffffu, best, o);
    const int other_place = __shfl_down_sync(0xffffffffu, place, o);
    if (other > best || (other == best && other_place < place)) {
      best = other;
      place = other_place;
    }
  }
  if (threadIdx.x == 0) {
    largest[blockIdx.x] = best;
    index[blockIdx.x] = place;
  }
}
