/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "largest", "grid": [48], "block": [32], "args": ["x", "output0", "output1"]}]}
*/

// The first of equal maxima; an int64 output.
__global__ void largest(const float* x, float* values, long long* indexes) {
  const float* row = x + blockIdx.x * 256;
  float best = row[threadIdx.x];
  int where = threadIdx.x;
  for (int i = threadIdx.x + 32; i < 256; i += 32) {
    if (row[i] > best) {
      best = row[i];
      where = i;
    }
  }
  for (int o = 16; o > 0; o /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, best, o);
    const int place = __shfl_xor_sync(0xffffffffu, where, o);
    if (other > best || (other == best && place < where)) {
      best = other;
      where = place;
    }
  }
  if (threadIdx.x == 0) {
    values[blockIdx.x] = best;
    indexes[blockIdx.x] = where;
  }
}
