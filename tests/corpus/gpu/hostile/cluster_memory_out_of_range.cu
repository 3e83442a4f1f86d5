/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "steps": [{"kernel": "relu", "grid": [258], "block": [256], "cluster": [2], "args": ["x", "output"]}]}
*/

// Reads the shared memory of a fifth block in clusters of two.
__global__ void relu(const float* x, float* output) {
  __shared__ float tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < 16 * 4099 ? x[i] : 0.0f;
  __syncthreads();
  unsigned mine = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x)), theirs;
  float value;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 5;" : "=r"(theirs) : "r"(mine));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(theirs) : "memory");
  if (i < 16 * 4099) output[i] = fmaxf(value, 0.0f);
}
