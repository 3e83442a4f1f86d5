/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "softmax", "grid": [37], "block": [128], "args": ["x", "output"]}]}
*/

// The tree lacks its barriers: right only where threads happen to run in step.
__global__ void softmax(const float* x, float* output) {
  __shared__ volatile float line[128];
  const int thread = threadIdx.x;
  const float* row = x + blockIdx.x * 1003;
  float maximum = row[0];
  for (int i = 0; i < 1003; ++i) maximum = fmaxf(maximum, row[i]);
  float sum = 0.0f;
  for (int i = thread; i < 1003; i += 128) sum += expf(row[i] - maximum);
  line[thread] = sum;
  for (int half = 64; half > 0; half /= 2) {
    if (thread < half) line[thread] = line[thread] + line[thread + half];
  }
  for (int i = thread; i < 1003; i += 128) output[blockIdx.x * 1003 + i] = expf(row[i] - maximum) / line[0];
}
