/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "tickets", "dtype": "int32", "shape": [2048]},
             {"name": "parts", "dtype": "float32", "shape": [2048, 32]}],
 "steps": [{"memset": "tickets", "value": 0, "width": 4},
           {"kernel": "sum_parts", "grid": [4, 2048], "block": [256], "args": ["x", "parts", "tickets", "output"]}]}
*/

// The block that draws a row's last ticket adds its parts in a fixed order: one launch, the same bits in every run.
__global__ void sum_parts(const float4* x, float* parts, int* tickets, float* output) {
  __shared__ bool last;
  const int row = blockIdx.y;
  const float4* mine = x + static_cast<size_t>(row) * 2048 + blockIdx.x * 512;
  const float4 v = mine[threadIdx.x], u = mine[threadIdx.x + 256];
  float sum = ((v.x + v.y) + (v.z + v.w)) + ((u.x + u.y) + (u.z + u.w));
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x % 32 == 0) parts[row * 32 + blockIdx.x * 8 + threadIdx.x / 32] = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(tickets + row, 1) == 3;
  __syncthreads();
  if (!last || threadIdx.x >= 32) return;
  __threadfence();
  sum = __ldcg(parts + row * 32 + threadIdx.x);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x == 0) output[row] = sum;
}
