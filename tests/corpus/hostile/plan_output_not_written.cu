/* warpsmith-plan
{"version": 1, "scratch": [{"name": "work", "dtype": "float32", "shape": [16]}],
 "steps": [{"memset": "work", "value": 0}]}
*/

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = x[i] < 0.0f ? 0.0f : x[i];
}
