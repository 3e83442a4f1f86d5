/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "steps": [{"kernel": "relu", "grid": [8192], "block": [256], "shared_bytes": 32768, "args": ["x", "output"]}]}
*/

// Waits for more bytes than it asks the tensor memory accelerator for.
__global__ void relu(const float* x, float* output) {
  extern __shared__ __align__(128) float4 tile[];
  __shared__ __align__(8) unsigned long long barrier;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const unsigned data = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const size_t first = static_cast<size_t>(blockIdx.x) * 8192;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(32768 + 16) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(data),
                 "l"(x + first), "r"(32768), "r"(bar)
                 : "memory");
  }
  __syncthreads();
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n@!done bra WAIT;\n}\n" ::"r"(bar)
      : "memory");
  for (int i = threadIdx.x; i < 8192; i += 256) output[first + i] = fmaxf(reinterpret_cast<float*>(tile)[i], 0.0f);
}
