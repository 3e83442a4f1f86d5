/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [262144], "block": [256], "args": ["x", "output"]}]}
*/

// One thread an element.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  output[i] = x[i] < 0.0f ? 0.0f : x[i];
}
