/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": ["4096*16384/4/THREADS"], "block": ["THREADS"], "args": ["x", "output"]}],
 "tune": {"THREADS": [256, 512, 1024]}}
*/

// The block size is tuned.
__global__ void __launch_bounds__(THREADS) relu(const float4* x, float4* output) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const float4 v = __ldcs(x + i);
  __stcs(output + i, make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f)));
}
