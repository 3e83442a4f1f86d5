/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "normalize", "grid": [@{rows}], "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// A block a row: one walk for the norm, TOGETHER loads in flight a thread, and a second one, out of the caches, for the
// result. With REVERSE the second walk goes backwards, so that it begins with what was read last.
constexpr int kLength = @{length}, kBlock = @{BLOCK}, kTogether = @{TOGETHER}, kWarps = kBlock / 32;
constexpr bool kAbsolute = @{absolute} == 1;  // the mean of magnitudes, else the root of the sum of squares
constexpr bool kReverse = @{REVERSE} == 1, kKeep = @{KEEP} == 1;
constexpr int kPiece = kBlock * kTogether, kPieces = (kLength + kPiece - 1) / kPiece;

__global__ void __launch_bounds__(kBlock) normalize(const float* __restrict__ input, float* __restrict__ output) {
  __shared__ float of_warps[kWarps];
  const float* row = input + static_cast<size_t>(blockIdx.x) * kLength;
  float* to = output + static_cast<size_t>(blockIdx.x) * kLength;
  float held[kKeep ? kPieces : 1][kTogether];
  float sum = 0.0f;
#pragma unroll(kKeep ? kPieces : 1)
  for (int piece = 0; piece < kPieces; ++piece) {
    float x[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = piece * kPiece + i * kBlock + threadIdx.x;
      x[i] = at < kLength ? row[at] : 0.0f;
      if (kKeep) held[kKeep ? piece : 0][i] = x[i];
    }
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < kTogether; ++i) part += kAbsolute ? fabsf(x[i]) : x[i] * x[i];
    sum += part;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int warp = 0; warp < kWarps; ++warp) total += of_warps[warp];
  const float norm = kAbsolute ? total / kLength : sqrtf(total);
#pragma unroll(kKeep ? kPieces : 1)
  for (int step = 0; step < kPieces; ++step) {
    const int piece = kReverse ? kPieces - 1 - step : step;
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = piece * kPiece + i * kBlock + threadIdx.x;
      if (at < kLength) to[at] = (kKeep ? held[kKeep ? piece : 0][i] : row[at]) / norm;
    }
  }
}
