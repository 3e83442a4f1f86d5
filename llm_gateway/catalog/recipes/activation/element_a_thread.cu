/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "activation",
            "grid": ["1 + (@{count} - 1 - (@{count} - 1) % @{BLOCK}) / @{BLOCK}"],
            "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// One thread an element.

constexpr long long kCount = @{count};
enum class Function {
  relu, ReLU = relu, gelu, GELU = gelu, sigmoid, Sigmoid = sigmoid, tanh, Tanh = tanh, silu, SiLU = silu,
  elu, ELU = elu, leaky_relu, LeakyReLU = leaky_relu, softplus, Softplus = softplus, softsign, Softsign = softsign,
  selu, SELU = selu, hardsigmoid, Hardsigmoid = hardsigmoid, hardtanh, Hardtanh = hardtanh, relu6, ReLU6 = relu6,
  hardswish, Hardswish = hardswish
};
enum class Approximate { none, tanh };
constexpr Function kFunction = Function::@{function};
constexpr Approximate kApproximate = Approximate::@{approximate};

__device__ __forceinline__ float activate(float x) {
  if constexpr (kFunction == Function::relu) return x < 0.0f ? 0.0f : x;
  if constexpr (kFunction == Function::leaky_relu) return x < 0.0f ? static_cast<float>(@{slope}) * x : x;
  if constexpr (kFunction == Function::gelu && kApproximate == Approximate::none) {
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
  }
  if constexpr (kFunction == Function::gelu) {
    return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  }
  if constexpr (kFunction == Function::sigmoid) return 1.0f / (1.0f + expf(-x));
  if constexpr (kFunction == Function::tanh) return tanhf(x);
  if constexpr (kFunction == Function::silu) return x / (1.0f + expf(-x));
  if constexpr (kFunction == Function::elu) return x < 0.0f ? static_cast<float>(@{alpha}) * expm1f(x) : x;
  if constexpr (kFunction == Function::softplus) return x > 20.0f ? x : log1pf(expf(x));
  if constexpr (kFunction == Function::softsign) return x / (1.0f + fabsf(x));
  if constexpr (kFunction == Function::selu) {
    return 1.05070099f * (x < 0.0f ? 1.67326324f * expm1f(x) : x);
  }
  if constexpr (kFunction == Function::hardsigmoid) return fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f);
  if constexpr (kFunction == Function::hardswish) return x * (fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f));
  if constexpr (kFunction == Function::hardtanh) return fminf(fmaxf(x, -1.0f), 1.0f);
  if constexpr (kFunction == Function::relu6) return fminf(fmaxf(x, 0.0f), 6.0f);
}

__global__ void activation(const float* __restrict__ input, float* __restrict__ output) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < kCount) output[i] = activate(input[i]);
}
