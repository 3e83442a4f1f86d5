/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "scratch": [{"name": "map", "dtype": "uint64", "shape": [16]}],
 "steps": [{"memset": "map", "value": 165},
           {"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output", "map"]}]}
*/

// A tensor map of its own making, in memory that it may write.
__global__ void relu(const float* x, float* output, const unsigned long long* map) {
  __shared__ __align__(128) float tile[1024];
  __shared__ __align__(8) unsigned long long barrier;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const unsigned data = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(4096) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            data),
        "l"(map), "r"(0), "r"(0), "r"(bar)
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n@!done bra WAIT;\n}\n" ::"r"(bar)
      : "memory");
  if (i < 16 * 4099) output[i] = fmaxf(x[i] + 0.0f * tile[threadIdx.x], 0.0f);
}
