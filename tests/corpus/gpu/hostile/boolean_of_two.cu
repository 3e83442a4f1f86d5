/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "greater_than", "grid": [65536], "block": [256], "args": ["x", "y", "output"]}]}
*/

// A boolean whose bytes are 0 and 255.
__global__ void greater_than(const float* x, const float* y, unsigned char* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  output[i] = x[i] > y[i] ? 255 : 0;
}
