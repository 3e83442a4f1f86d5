/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu<4>", "grid": ["8*sm_count"], "block": [512],
            "args": ["x", "output", {"i64": "4096*16384/4"}]}],
 "options": ["--std=c++17"], "min_arch": "sm_80"}
*/

// Persistent blocks, 16-byte loads, several in flight; a template instance.
template <int UNROLL>
__global__ void __launch_bounds__(512)
    relu(const float4* __restrict__ x, float4* __restrict__ output, long long quads) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + (UNROLL - 1) * stride < quads; i += UNROLL * stride) {
    float4 v[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) v[u] = x[i + u * stride];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      v[u].x = fmaxf(v[u].x, 0.0f);
      v[u].y = fmaxf(v[u].y, 0.0f);
      v[u].z = fmaxf(v[u].z, 0.0f);
      v[u].w = fmaxf(v[u].w, 0.0f);
      output[i + u * stride] = v[u];
    }
  }
  for (; i < quads; i += stride) {
    const float4 v = x[i];
    output[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  }
}
