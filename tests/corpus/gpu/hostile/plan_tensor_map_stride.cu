/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "steps": [{"kernel": "relu", "grid": [257], "block": [256],
            "args": [{"tensor_map": {"tensor": "x", "box": [64, 16]}}, "output"]}]}
*/

// A tensor map of rows that are no multiple of sixteen bytes.
struct __align__(64) Map {
  char opaque[128];
};

__global__ void relu(const __grid_constant__ Map x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = x.opaque[i % 128];
}
