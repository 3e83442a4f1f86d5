/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "sum_rows", "grid": [2048], "block": [256], "args": ["x", "output"]}]}
*/

// A reduction without barriers: the first warp does not wait for the others, whose rows are longer.
__global__ void sum_rows(const float* x, float* output) {
  __shared__ float shared[256];
  const float* row = x + static_cast<size_t>(blockIdx.x) * 8192;
  const int warp = threadIdx.x / 32;
  float sum = 0.0f;
  if (warp == 0) {
    for (int i = threadIdx.x; i < 512; i += 32) sum += row[i];
  } else {
    for (int i = 512 + threadIdx.x - 32; i < 8192; i += 224) sum += row[i];
  }
  shared[threadIdx.x] = sum;
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (int i = 0; i < 256; ++i) sum += *reinterpret_cast<volatile float*>(shared + i);
    output[blockIdx.x] = sum;
  }
}
