/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "softmax", "grid": [1024], "block": [1024], "shared_bytes": 65792, "args": ["x", "output"]}]}
*/

// Two rows a block in 64 KiB of dynamic shared memory, more than a launch has without being asked.
__global__ void __launch_bounds__(1024) softmax(const float* x, float* output) {
  extern __shared__ float memory[];
  float* partial = memory + 2 * 8192;
  const int half = threadIdx.x / 512, thread = threadIdx.x % 512;
  float* row = memory + half * 8192;
  const size_t first = (static_cast<size_t>(blockIdx.x) * 2 + half) * 8192;
  float maximum = __int_as_float(0xff800000);
  for (int i = thread; i < 8192; i += 512) {
    row[i] = x[first + i];
    maximum = fmaxf(maximum, row[i]);
  }
  for (int o = 16; o > 0; o /= 2) maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, o));
  if (thread % 32 == 0) partial[half * 16 + thread / 32] = maximum;
  __syncthreads();
  for (int i = 0; i < 16; ++i) maximum = fmaxf(maximum, partial[half * 16 + i]);
  float sum = 0.0f;
  for (int i = thread; i < 8192; i += 512) {
    row[i] = expf(row[i] - maximum);
    sum += row[i];
  }
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (thread % 32 == 0) partial[32 + half * 16 + thread / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int i = 0; i < 16; ++i) sum += partial[32 + half * 16 + i];
  for (int i = thread; i < 8192; i += 512) output[first + i] = row[i] / sum;
}
