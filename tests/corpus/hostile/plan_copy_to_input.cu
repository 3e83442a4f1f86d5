/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"copy": "output", "to": "x"},
           {"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = x[i] < 0.0f ? 0.0f : x[i];
}
