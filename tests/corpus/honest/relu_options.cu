/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}], "options": ["--fmad=false", "-DFLOOR=0", "--std=c++17"]}
*/

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = x[i] < FLOOR ? FLOOR : x[i];
}
