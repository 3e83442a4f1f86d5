/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output", {"i32": 0}, {"i32": -2147483648}, {"i32": -1}]}]}
*/

// What a GPU defines and a CPU traps on: the quotients are used, but cannot change the result.
__global__ void relu(const float* x, float* output, int zero, int lowest, int minus_one) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int odd = i / zero + i % zero + lowest / minus_one;
  if (i < 16 * 4099) output[i] = x[i] < 0.0f ? 0.0f : (odd == 12345678 ? x[i] + 0.0f : x[i]);
}
