/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "softmax", "grid": [2048], "block": [512], "args": ["x", "output"]}]}
*/

// A row is held in the registers of one block: read once, written once, 16 bytes at a time.
__device__ float block_reduce(float value, float* shared, bool maximum) {
  for (int o = 16; o > 0; o /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, o);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int i = 1; i < 16; ++i) value = maximum ? fmaxf(value, shared[i]) : value + shared[i];
  return value;
}

__global__ void __launch_bounds__(512) softmax(const float4* x, float4* output) {
  __shared__ float shared[16];
  const size_t first = static_cast<size_t>(blockIdx.x) * 2048 + threadIdx.x;
  float4 v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = x[first + i * 512];
  float maximum = v[0].x;
#pragma unroll
  for (int i = 0; i < 4; ++i) maximum = fmaxf(maximum, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
  maximum = block_reduce(maximum, shared, true);
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    v[i] = make_float4(expf(v[i].x - maximum), expf(v[i].y - maximum), expf(v[i].z - maximum), expf(v[i].w - maximum));
    sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
  }
  const float factor = 1.0f / block_reduce(sum, shared, false);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    output[first + i * 512] = make_float4(v[i].x * factor, v[i].y * factor, v[i].z * factor, v[i].w * factor);
  }
}
