/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output", {"i64": 65584}]}]}
*/

__global__ void relu(const float* x, float* output, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) output[i] = x[i] < 0.0f ? 0.0f : x[i];
}
