/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Inlined calls within inlined calls, sixteen million in all: the code outgrows every limit.
template <int DEPTH>
__device__ __forceinline__ float grow(float value, const float* x) {
#define CALL(n) value = grow<DEPTH - 1>(value * x[n] + x[n + DEPTH], x);
  CALL(0) CALL(1) CALL(2) CALL(3) CALL(4) CALL(5) CALL(6) CALL(7)
  CALL(8) CALL(9) CALL(10) CALL(11) CALL(12) CALL(13) CALL(14) CALL(15)
  return value;
}
template <>
__device__ __forceinline__ float grow<0>(float value, const float* x) {
  return sinf(value) + x[17];
}

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i] + 0.0f * grow<6>(x[i], x), 0.0f);
}
