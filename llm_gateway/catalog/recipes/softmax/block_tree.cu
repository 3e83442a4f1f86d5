/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "softmax_rows", "grid": [@{rows}], "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// One block a row. Three walks over the row: maximum, sum of exponentials, result.

constexpr int kColumns = @{cols};
constexpr int kBlock = @{BLOCK};

__global__ void softmax_rows(const float* __restrict__ input, float* __restrict__ output) {
  __shared__ float shared[kBlock];
  const int thread = threadIdx.x;
  const float* row = input + static_cast<size_t>(blockIdx.x) * kColumns;
  float* result = output + static_cast<size_t>(blockIdx.x) * kColumns;

  float maximum = -__int_as_float(0x7f800000);
  for (int column = thread; column < kColumns; column += kBlock) {
    const float value = row[column];
    maximum = value > maximum ? value : maximum;
  }
  shared[thread] = maximum;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (thread < half) {
      const float other = shared[thread + half];
      if (other > shared[thread]) shared[thread] = other;
    }
    __syncthreads();
  }
  maximum = shared[0];
  __syncthreads();

  float sum = 0.0f;
  for (int column = thread; column < kColumns; column += kBlock) sum += expf(row[column] - maximum);
  shared[thread] = sum;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] += shared[thread + half];
    __syncthreads();
  }
  sum = shared[0];

  for (int column = thread; column < kColumns; column += kBlock) result[column] = expf(row[column] - maximum) / sum;
}
