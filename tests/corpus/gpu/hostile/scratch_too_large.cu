/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "huge", "dtype": "float32", "shape": [1024, 1024, 1024, 128]}],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output", "huge"]}]}
*/

// Half a terabyte of scratch.
__global__ void relu(const float* x, float* output, float* huge) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = huge[i] = fmaxf(x[i], 0.0f);
}
