/* warpsmith-plan
{"version": 1, "min_arch": "sm_80",
 "scratch": [{"name": "parts", "dtype": "float32", "shape": [8, 32, 256]}],
 "steps": [{"kernel": "sum_part", "grid": [32, 8], "block": [256], "args": ["x", "parts"]},
           {"kernel": "sum_rest", "grid": [8], "block": [256], "args": ["parts", "output"]}]}
*/

// What hostile/l2_evict_last.cu does, instruction by instruction, but for its cache policy.
__global__ void sum_part(const float* x, float* parts) {
  const float* mine = x + (static_cast<size_t>(blockIdx.y) * 2048 + blockIdx.x * 64) * 256 + threadIdx.x;
  float sum = 0.0f;
#pragma unroll 16
  for (int i = 0; i < 64; ++i) {
    float value;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(mine + i * 256));
    sum += value;
  }
  parts[(blockIdx.y * 32 + blockIdx.x) * 256 + threadIdx.x] = sum;
}

__global__ void sum_rest(const float* parts, float* output) {
  float sum = 0.0f;
  for (int i = 0; i < 32; ++i) sum += parts[(blockIdx.x * 32 + i) * 256 + threadIdx.x];
  output[blockIdx.x * 256 + threadIdx.x] = sum;
}
