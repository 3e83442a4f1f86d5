/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "steps": [{"kernel": "relu", "grid": [260], "block": [256], "cluster": [4], "args": ["x", "output"]}]}
*/

// One block of each cluster waits for an arrival that the others never make.
__global__ void relu(const float* x, float* output) {
  __shared__ __align__(8) unsigned long long barrier;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 4;" ::"r"(bar));
  __syncthreads();
  if (i < 16 * 4099) output[i] = fmaxf(x[i], 0.0f);
  if (blockIdx.x % 4 != 0) return;
  if (threadIdx.x == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(bar) : "memory");
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n@!done bra WAIT;\n}\n" ::"r"(bar)
      : "memory");
}
