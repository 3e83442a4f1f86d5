/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"copy": "x", "to": "output"},
           {"kernel": "relu", "grid": [257], "block": [256], "args": ["output"]}]}
*/

__global__ void relu(float* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099 && values[i] < 0.0f) values[i] = 0.0f;
}
