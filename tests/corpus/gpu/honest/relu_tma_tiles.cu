/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "steps": [{"kernel": "relu", "grid": [128, 128], "block": [256], "shared_bytes": 16512,
            "args": [{"tensor_map": {"tensor": "x", "box": [128, 32]}},
                     {"tensor_map": {"tensor": "output", "box": [128, 32]}}]}]}
*/

// Tiles of 128 x 32 through tensor maps, loaded and stored by the tensor memory accelerator.
struct __align__(64) TensorMap {
  char opaque[128];
};

__global__ void relu(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap output) {
  extern __shared__ __align__(128) char memory[];
  float4* tile = reinterpret_cast<float4*>(memory);
  const unsigned data = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const unsigned bar = data + 16384;
  const int column = blockIdx.x * 128, row = blockIdx.y * 32;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(16384) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            data),
        "l"(&x), "r"(column), "r"(row), "r"(bar)
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n@!done bra WAIT;\n}\n" ::"r"(bar)
      : "memory");
  for (int i = threadIdx.x; i < 1024; i += 256) {
    const float4 v = tile[i];
    tile[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&output),
                 "r"(column), "r"(row), "r"(data)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
