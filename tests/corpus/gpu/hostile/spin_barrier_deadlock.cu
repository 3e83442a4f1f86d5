/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "arrived", "dtype": "int32", "shape": [1]}],
 "steps": [{"memset": "arrived", "value": 0, "width": 4},
           {"kernel": "relu", "grid": [65536], "block": [1024], "args": ["x", "output", "arrived"]}]}
*/

// A barrier of its own over more blocks than the device holds at once.
__global__ void relu(const float* x, float* output, int* arrived) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  output[i] = fmaxf(x[i], 0.0f);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) {
    }
  }
  __syncthreads();
}
