/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "softmax", "grid": [37], "block": [128], "shared_bytes": "4 * (1003 + 128)", "args": ["x", "output"]}]}
*/

// The row and a scratch line for reductions in dynamic shared memory.
__global__ void softmax(const float* x, float* output) {
  extern __shared__ float row[];
  float* line = row + 1003;
  const int thread = threadIdx.x;
  float maximum = -3.4e38f;
  for (int i = thread; i < 1003; i += 128) {
    row[i] = x[blockIdx.x * 1003 + i];
    maximum = fmaxf(maximum, row[i]);
  }
  line[thread] = maximum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (thread < half) line[thread] = fmaxf(line[thread], line[thread + half]);
    __syncthreads();
  }
  maximum = line[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = thread; i < 1003; i += 128) {
    row[i] = expf(row[i] - maximum);
    sum += row[i];
  }
  line[thread] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (thread < half) line[thread] += line[thread + half];
    __syncthreads();
  }
  for (int i = thread; i < 1003; i += 128) output[blockIdx.x * 1003 + i] = row[i] / line[0];
}
