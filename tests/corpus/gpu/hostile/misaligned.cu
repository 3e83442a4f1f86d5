/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

// A float4 at an address that is no multiple of sixteen.
__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099 / 4 - 1) {
    float4 v = *reinterpret_cast<const float4*>(x + 4 * i + 1);
    *reinterpret_cast<float4*>(output + 4 * i + 1) = v;
  }
}
