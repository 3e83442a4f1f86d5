/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "activation",
            "grid": ["1 + (@{count} - 1 - (@{count} - 1) % (4 * @{BLOCK} * @{ITEMS})) / (4 * @{BLOCK} * @{ITEMS})"],
            "block": [@{BLOCK}], "args": ["@{input}", "output"]}]}
*/
// Several float4 a thread; the function by a formula of few instructions.

constexpr long long kCount = @{count};
constexpr long long kVectors = kCount / 4;
constexpr int kRest = kCount % 4;
constexpr int kBlock = @{BLOCK};
constexpr int kItems = @{ITEMS};
enum class Function {
  relu, ReLU = relu, gelu, GELU = gelu, sigmoid, Sigmoid = sigmoid, tanh, Tanh = tanh, silu, SiLU = silu,
  elu, ELU = elu, leaky_relu, LeakyReLU = leaky_relu, softplus, Softplus = softplus, softsign, Softsign = softsign,
  selu, SELU = selu, hardsigmoid, Hardsigmoid = hardsigmoid, hardtanh, Hardtanh = hardtanh, relu6, ReLU6 = relu6,
  hardswish, Hardswish = hardswish
};
enum class Approximate { none, tanh };
constexpr Function kFunction = Function::@{function};
constexpr Approximate kApproximate = Approximate::@{approximate};

// exp(-|x|) lies between 0 and 1, so nothing here overflows.
__device__ __forceinline__ float quick_sigmoid(float x) {
  const float exponential = exp2f(-1.44269504f * fabsf(x));
  const float positive = 1.0f / (1.0f + exponential);
  return x < 0.0f ? exponential * positive : positive;
}

// A quotient of polynomials in x * x, fitted on |x| < 3.9, beyond which the function is 1 to seven digits.
// Error under 4e-7.
__device__ __forceinline__ float quick_erf(float x) {
  x = x > 3.9f ? 3.9f : x;
  x = x < -3.9f ? -3.9f : x;
  const float t = x * x;
  const float above = 1.12837903f + t * (0.191941308f + t * (0.0529669622f + t * (0.00383688989f +
                      t * (0.000287457683f + t * 2.0503865e-6f))));
  const float below = 1.0f + t * (0.503435333f + t * (0.114758329f + t * (0.0151092322f +
                      t * (0.00118173799f + t * 3.82307565e-5f))));
  float result = x * above / below;
  result = result > 1.0f ? 1.0f : result;
  return result < -1.0f ? -1.0f : result;
}

__device__ __forceinline__ float activate(float x) {
  if constexpr (kFunction == Function::relu) return x < 0.0f ? 0.0f : x;
  if constexpr (kFunction == Function::leaky_relu) return x < 0.0f ? static_cast<float>(@{slope}) * x : x;
  if constexpr (kFunction == Function::gelu && kApproximate == Approximate::none) {
    return 0.5f * x * (1.0f + quick_erf(x * 0.70710678f));
  }
  if constexpr (kFunction == Function::gelu) {
    return x * quick_sigmoid(1.59576912f * (x + 0.044715f * x * x * x));
  }
  if constexpr (kFunction == Function::sigmoid) return quick_sigmoid(x);
  // Near zero the difference of a sigmoid would lose digits.
  if constexpr (kFunction == Function::tanh) {
    return fabsf(x) < 0.25f ? tanhf(x) : 2.0f * quick_sigmoid(2.0f * x) - 1.0f;
  }
  if constexpr (kFunction == Function::silu) return x * quick_sigmoid(x);
  if constexpr (kFunction == Function::elu) return x < 0.0f ? static_cast<float>(@{alpha}) * expm1f(x) : x;
  if constexpr (kFunction == Function::softplus) {
    return x > 20.0f ? x : (x > 0.0f ? x : 0.0f) + log1pf(exp2f(-1.44269504f * fabsf(x)));
  }
  if constexpr (kFunction == Function::softsign) return x / (1.0f + fabsf(x));
  if constexpr (kFunction == Function::selu) {
    return 1.05070099f * (x < 0.0f ? 1.67326324f * expm1f(x) : x);
  }
  if constexpr (kFunction == Function::hardsigmoid) return fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f);
  if constexpr (kFunction == Function::hardswish) return x * (fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f));
  if constexpr (kFunction == Function::hardtanh) return fminf(fmaxf(x, -1.0f), 1.0f);
  if constexpr (kFunction == Function::relu6) return fminf(fmaxf(x, 0.0f), 6.0f);
}

__device__ __forceinline__ float4 activate(float4 x) {
  return make_float4(activate(x.x), activate(x.y), activate(x.z), activate(x.w));
}

__global__ void activation(const float* __restrict__ input, float* __restrict__ output) {
  const float4* vectors = reinterpret_cast<const float4*>(input);
  float4* results = reinterpret_cast<float4*>(output);
  const long long first = static_cast<long long>(blockIdx.x) * (kBlock * kItems) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const long long index = first + i * kBlock;
    if (index < kVectors) results[index] = activate(vectors[index]);
  }
  // The elements that four does not divide.
  if (kRest > 0 && blockIdx.x == gridDim.x - 1 && threadIdx.x < kRest) {
    const long long index = kVectors * 4 + threadIdx.x;
    output[index] = activate(input[index]);
  }
}
