/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "layer_norm", "grid": [@{rows}], "block": [@{BLOCK}],
            "args": ["@{input}", "@{weight}", "@{bias}", "output"]}]}
*/
// One block a row; Welford's update in each thread, a tree of joins in shared memory.

constexpr int kColumns = @{cols};
constexpr int kBlock = @{BLOCK};
constexpr float kEpsilon = @{eps};

__global__ void layer_norm(const float* __restrict__ input, const float* __restrict__ weight,
                           const float* __restrict__ bias, float* __restrict__ output) {
  __shared__ float counts[kBlock];
  __shared__ float means[kBlock];
  __shared__ float squares[kBlock];
  const int thread = threadIdx.x;
  const float* row = input + static_cast<size_t>(blockIdx.x) * kColumns;
  float* result = output + static_cast<size_t>(blockIdx.x) * kColumns;

  float count = 0.0f;
  float mean = 0.0f;
  float square = 0.0f;
  for (int column = thread; column < kColumns; column += kBlock) {
    const float value = row[column];
    const float delta = value - mean;
    count += 1.0f;
    mean += delta / count;
    square += delta * (value - mean);
  }
  counts[thread] = count;
  means[thread] = mean;
  squares[thread] = square;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (thread < half && counts[thread + half] > 0.0f) {
      const float total = counts[thread] + counts[thread + half];
      const float delta = means[thread + half] - means[thread];
      const float share = counts[thread + half] / total;
      squares[thread] += squares[thread + half] + delta * delta * counts[thread] * share;
      means[thread] += delta * share;
      counts[thread] = total;
    }
    __syncthreads();
  }
  mean = means[0];
  const float scale = 1.0f / sqrtf(squares[0] / kColumns + kEpsilon);
  for (int column = thread; column < kColumns; column += kBlock) {
    result[column] = (row[column] - mean) * scale * weight[column] + bias[column];
  }
}
