// Library steps on a GPU: every function in every transposition, type and class at small odd sizes against float64 on
// the host, on a stream and in a graph; refusals; times of well-known shapes, caches cold.
// Usage: library_gpu_test [--startup]: only what loading and handles cost, in seconds and in bytes of the GPU.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string_view>

#include "tests/gpu/library/step_runner.h"

namespace warpsmith::library {
namespace {

struct Kind {
  const char* compute;
  const char* input;
  const char* output;
  double tolerance;  // RMS error over RMS
};
constexpr Kind kKinds[] = {{"fp32", "float32", "float32", 2e-6},   {"tf32", "float32", "float32", 2e-3},
                           {"fp16", "float32", "float32", 2e-3},   {"bf16", "float32", "float32", 1e-2},
                           {"fp16", "float16", "float16", 1e-3},   {"fp16", "float16", "float32", 2e-6},
                           {"bf16", "bfloat16", "bfloat16", 5e-3}, {"bf16", "bfloat16", "float32", 2e-6}};

template <typename Message>
auto Unwrap(absl::StatusOr<Message> result) {
  Require(result.status());
  return *std::move(result);
}

OperandTypes TypesOf(const Arrays& arrays) {
  OperandTypes types;
  for (const auto& [name, array] : arrays) types[name] = Unwrap(DataTypeOf(array->dtype()));
  return types;
}

void TestGemm(const Gpu& gpu, StepRunner* runner, const Kind& kind, bool ta, bool tb, int batch, double beta) {
  const int64_t m = 37, n = 29, k = 53;
  const int64_t lda = (ta ? k : m) + 3, ldb = (tb ? n : k) + 1, ldc = m + 2;
  const int64_t a_size = lda * (ta ? m : k), b_size = ldb * (tb ? k : n), c_size = ldc * n;
  GpuArray a(gpu, kind.input, a_size, 1), b(gpu, kind.input, b_size * batch, 2), c(gpu, kind.output, c_size * batch, 3);
  const Arrays arrays = {{"A", &a}, {"B", &b}, {"C", &c}};
  v1::LibraryStep step = MakeStep(batch > 1 ? "gemm_strided_batched" : "gemm", kind.compute, arrays);
  auto& integers = *step.mutable_integers();
  const std::pair<const char*, int64_t> sizes[] = {{"m", m},     {"n", n},     {"k", k},
                                                   {"lda", lda}, {"ldb", ldb}, {"ldc", ldc}};
  for (const auto& [name, value] : sizes) integers[name] = value;
  if (batch > 1) {
    integers["strideA"] = 0;  // the same A for each
    integers["strideB"] = b_size;
    integers["strideC"] = c_size;
    integers["batchCount"] = batch;
  }
  (*step.mutable_scalars())["alpha"] = 0.75;
  (*step.mutable_scalars())["beta"] = beta;
  (*step.mutable_enums())["transa"] = ta ? "T" : "N";
  (*step.mutable_enums())["transb"] = tb ? "T" : "N";
  const GemmCall call = Unwrap(ReadGemm(step, TypesOf(arrays)));
  const Values expected = ReferenceGemm(call, a.values(), b.values(), c.values());
  runner->Check(fmt::format("{} {}{} {} {}->{} beta {}", batch > 1 ? "batched" : "gemm", ta ? 'T' : 'N', tb ? 'T' : 'N',
                            kind.compute, kind.input, kind.output, beta),
                step, arrays, "C", expected, kind.tolerance);
}

struct ConvolutionCase {
  const char* name;
  std::vector<int64_t> x, w, padding, stride, dilation;
  int64_t groups;
  const char* format;
};

v1::LibraryStep ConvolutionStep(const ConvolutionCase& c, const char* compute, const Arrays& arrays,
                                std::vector<int64_t>* y) {
  v1::LibraryStep step = MakeStep("conv_forward", compute, arrays);
  auto& integers = *step.mutable_integers();
  integers["nbDims"] = static_cast<int64_t>(c.x.size());
  *y = {c.x[0], c.w[0]};
  for (size_t i = 0; i + 2 < c.x.size(); ++i) {
    y->push_back((c.x[i + 2] + 2 * c.padding[i] - c.dilation[i] * (c.w[i + 2] - 1) - 1) / c.stride[i] + 1);
    integers[fmt::format("padA{}", i)] = c.padding[i];
    integers[fmt::format("filterStrideA{}", i)] = c.stride[i];
    integers[fmt::format("dilationA{}", i)] = c.dilation[i];
  }
  for (size_t i = 0; i < c.x.size(); ++i) {
    integers[fmt::format("dimA{}", i)] = c.x[i];
    integers[fmt::format("filterDimA{}", i)] = c.w[i];
    integers[fmt::format("yDimA{}", i)] = (*y)[i];
  }
  integers["groupCount"] = c.groups;
  (*step.mutable_enums())["format"] = c.format;
  return step;
}

int64_t Product(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (int64_t side : shape) product *= side;
  return product;
}

void TestConvolution(const Gpu& gpu, StepRunner* runner, const ConvolutionCase& c, const Kind& kind, double beta,
                     bool required) {
  std::vector<int64_t> y_shape;
  ConvolutionStep(c, kind.compute, {}, &y_shape);
  GpuArray x(gpu, kind.input, Product(c.x), 4), w(gpu, kind.input, Product(c.w), 5),
      y(gpu, kind.input, Product(y_shape), 6);
  const Arrays arrays = {{"x", &x}, {"w", &w}, {"y", &y}};
  v1::LibraryStep step = ConvolutionStep(c, kind.compute, arrays, &y_shape);
  (*step.mutable_scalars())["alpha"] = 1;
  (*step.mutable_scalars())["beta"] = beta;
  const ConvolutionCall call = Unwrap(ReadConvolution(step, TypesOf(arrays)));
  const Values expected = ReferenceConvolution(call, x.values(), w.values(), y.values());
  runner->Check(fmt::format("conv {} {} {} {} beta {}", c.name, c.format, kind.compute, kind.input, beta), step, arrays,
                "y", expected, kind.tolerance, required);
}

struct AttentionSizes {
  int64_t b, hq, hk, hv, sq, skv, dqk, dv;
};

v1::LibraryStep AttentionStep(const AttentionSizes& s, const char* compute, const char* mask, const Arrays& arrays) {
  v1::LibraryStep step = MakeStep("attention_forward", compute, arrays);
  const std::pair<const char*, int64_t> sizes[] = {{"b", s.b},    {"h_q", s.hq},   {"h_k", s.hk},   {"h_v", s.hv},
                                                   {"s_q", s.sq}, {"s_kv", s.skv}, {"d_qk", s.dqk}, {"d_v", s.dv}};
  for (const auto& [name, value] : sizes) (*step.mutable_integers())[name] = value;
  (*step.mutable_scalars())["attn_scale"] = 0.125;
  (*step.mutable_enums())["causal_mask"] = mask;
  return step;
}

struct AttentionArrays {
  AttentionArrays(const Gpu& gpu, const AttentionSizes& s, const char* dtype)
      : q(gpu, dtype, s.b * s.hq * s.sq * s.dqk, 7),
        k(gpu, dtype, s.b * s.hk * s.skv * s.dqk, 8),
        v(gpu, dtype, s.b * s.hv * s.skv * s.dv, 9),
        o(gpu, dtype, s.b * s.hq * s.sq * s.dv, 10) {}
  Arrays Named() const { return {{"q", &q}, {"k", &k}, {"v", &v}, {"o", &o}}; }
  GpuArray q, k, v, o;
};

void TestAttention(const Gpu& gpu, StepRunner* runner, const AttentionSizes& sizes, const char* dtype, const char* mask,
                   bool required) {
  const std::string compute = std::string_view(dtype) == "float16" ? "fp16" : "bf16";
  AttentionArrays arrays(gpu, sizes, dtype);
  const v1::LibraryStep step = AttentionStep(sizes, compute.c_str(), mask, arrays.Named());
  const AttentionCall call = Unwrap(ReadAttention(step, TypesOf(arrays.Named())));
  const Values expected = ReferenceAttention(call, arrays.q.values(), arrays.k.values(), arrays.v.values());
  runner->Check(fmt::format("attention {}x{}/{}/{} {}x{} {}/{} {} {}", sizes.b, sizes.hq, sizes.hk, sizes.hv, sizes.sq,
                            sizes.skv, sizes.dqk, sizes.dv, dtype, mask),
                step, arrays.Named(), "o", expected, compute == "fp16" ? 2e-3 : 1.5e-2, required);
}

void TestRefusals(const Gpu& gpu, StepRunner* runner) {
  const AttentionSizes sizes = {1, 2, 2, 2, 16, 16, 64, 64};
  AttentionArrays floats(gpu, sizes, "float32");
  runner->CheckRefused("attention of float32", AttentionStep(sizes, "fp32", "none", floats.Named()), floats.Named(),
                       "float16 or bfloat16");
  const AttentionSizes tall = {1, 2, 2, 2, 32, 16, 64, 64};
  AttentionArrays halves(gpu, tall, "float16");
  runner->CheckRefused("attention with rows that see nothing",
                       AttentionStep(tall, "fp16", "bottom_right", halves.Named()), halves.Named(), "causal_mask");
}

void TimeGemm(const Gpu& gpu, StepRunner* runner, const Kind& kind, double h200_ms) {
  constexpr int64_t kSide = 4096;
  GpuArray a(gpu, kind.input, kSide * kSide, 1), b(gpu, kind.input, kSide * kSide, 2),
      c(gpu, kind.output, kSide * kSide, 3);
  const Arrays arrays = {{"A", &a}, {"B", &b}, {"C", &c}};
  v1::LibraryStep step = MakeStep("gemm", kind.compute, arrays);
  for (const char* name : {"m", "n", "k", "lda", "ldb", "ldc"}) (*step.mutable_integers())[name] = kSide;
  (*step.mutable_scalars())["alpha"] = 1;
  (*step.mutable_scalars())["beta"] = 0;
  (*step.mutable_enums())["transa"] = "N";
  (*step.mutable_enums())["transb"] = "N";
  runner->Time(fmt::format("time gemm 4096 {} {}", kind.compute, kind.input), step, arrays, 2.0 * kSide * kSide * kSide,
               h200_ms);
}

void TimeConvolution(const Gpu& gpu, StepRunner* runner, const char* compute, double h200_ms) {
  const ConvolutionCase c = {"", {100, 3, 224, 224}, {96, 3, 11, 11}, {2, 2}, {4, 4}, {1, 1}, 1, "NCHW"};
  std::vector<int64_t> y_shape;
  ConvolutionStep(c, compute, {}, &y_shape);
  GpuArray x(gpu, "float32", Product(c.x), 4), w(gpu, "float32", Product(c.w), 5),
      y(gpu, "float32", Product(y_shape), 6);
  const Arrays arrays = {{"x", &x}, {"w", &w}, {"y", &y}};
  v1::LibraryStep step = ConvolutionStep(c, compute, arrays, &y_shape);
  (*step.mutable_scalars())["alpha"] = 1;
  (*step.mutable_scalars())["beta"] = 0;
  const double operations = 2.0 * static_cast<double>(Product(y_shape)) * 3 * 11 * 11;
  runner->Time(fmt::format("time conv (100,3,224,224) 96 11x11 {}", compute), step, arrays, operations, h200_ms);
}

void RunAll(const Gpu& gpu, StepRunner* runner) {
  for (const Kind& kind : kKinds) {
    for (int transposed = 0; transposed < 4; ++transposed) {
      TestGemm(gpu, runner, kind, (transposed & 1) != 0, (transposed & 2) != 0, 1, transposed == 3 ? 0.5 : 0);
    }
    TestGemm(gpu, runner, kind, false, true, 3, 0.5);
    TestGemm(gpu, runner, kind, true, false, 3, 0);
  }
  const ConvolutionCase plain = {"3x5", {2, 8, 19, 21}, {16, 8, 3, 5}, {1, 2}, {2, 1}, {1, 1}, 1, "NCHW"};
  const ConvolutionCase dilated = {"dilated", {2, 8, 19, 21}, {16, 8, 3, 3}, {2, 0}, {1, 2}, {2, 3}, 1, "NCHW"};
  const ConvolutionCase grouped = {"groups", {2, 16, 12, 12}, {16, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, "NCHW"};
  const ConvolutionCase last = {"3x5", {2, 8, 19, 21}, {16, 8, 3, 5}, {1, 2}, {2, 1}, {1, 1}, 1, "NHWC"};
  const ConvolutionCase deep = {"3d", {1, 8, 7, 9, 8}, {8, 8, 3, 3, 3}, {1, 1, 1}, {1, 2, 1}, {1, 1, 1}, 1, "NCHW"};
  for (const Kind& kind : kKinds) {
    if (std::string_view(kind.input) != kind.output) continue;
    const bool floats = std::string_view(kind.input) == "float32";
    if (floats && std::string_view(kind.compute) == "bf16") continue;  // refused before cuDNN is asked
    const bool common = std::string_view(kind.compute) != "bf16";
    TestConvolution(gpu, runner, plain, kind, 0, common);
    TestConvolution(gpu, runner, plain, kind, 0.5, false);
    TestConvolution(gpu, runner, dilated, kind, 0, common);
    TestConvolution(gpu, runner, grouped, kind, 0, common);
    TestConvolution(gpu, runner, last, kind, 0, false);
    TestConvolution(gpu, runner, deep, kind, 0, false);
  }
  TimeGemm(gpu, runner, kKinds[0], 2.79);
  TimeGemm(gpu, runner, kKinds[1], 0.36);
  TimeGemm(gpu, runner, kKinds[4], 0.19);
  TimeConvolution(gpu, runner, "fp32", 0.897);
  TimeConvolution(gpu, runner, "tf32", 0);
  // Last: a kernel that goes astray ends the process.
  for (const char* dtype : {"float16", "bfloat16"}) {
    for (const char* mask : {"none", "top_left", "bottom_right"}) {
      TestAttention(gpu, runner, {2, 4, 4, 4, 64, 128, 64, 64}, dtype, mask, true);
      TestAttention(gpu, runner, {2, 4, 2, 2, 65, 129, 128, 128}, dtype, mask, true);
    }
    TestAttention(gpu, runner, {1, 3, 1, 3, 33, 47, 64, 32}, dtype, "none", false);
    TestAttention(gpu, runner, {2, 2, 2, 2, 1, 100, 128, 128}, dtype, "none", false);
    TestAttention(gpu, runner, {1, 2, 2, 2, 80, 80, 256, 256}, dtype, "top_left", false);
  }
  TestRefusals(gpu, runner);
  const AttentionSizes large = {4, 32, 32, 32, 4096, 4096, 128, 128};
  AttentionArrays arrays(gpu, large, "float16");
  runner->Time("time attention (4,32,4096,128) fp16", AttentionStep(large, "fp16", "none", arrays.Named()),
               arrays.Named(), 4.0 * 4 * 32 * 4096 * 4096 * 128, 1.88);
}

// Loads both libraries and takes one step of each.
void MeasureStartup(const Gpu& gpu, StepRunner* runner) {
  const size_t before = gpu.FreeBytes();
  const auto start = std::chrono::steady_clock::now();
  auto tell = [&](const char* what) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    runner->Report(true, what,
                   fmt::format("{:.2f} s and {} MiB of the GPU so far", seconds, (before - gpu.FreeBytes()) >> 20));
  };
  TestGemm(gpu, runner, kKinds[0], false, false, 1, 0);
  tell("after the first gemm");
  TestConvolution(gpu, runner, {"3x5", {2, 8, 19, 21}, {16, 8, 3, 5}, {1, 2}, {2, 1}, {1, 1}, 1, "NCHW"}, kKinds[0], 0,
                  true);
  tell("after the first convolution");
  TestAttention(gpu, runner, {2, 4, 4, 4, 64, 128, 64, 64}, "float16", "none", true);
  tell("after the first attention");
}

}  // namespace
}  // namespace warpsmith::library

int main(int argc, char** argv) {
  using namespace warpsmith::library;
  const Gpu gpu;
  StepRunner runner(gpu);
  std::printf("library steps on %s\n", gpu.name().c_str());
  if (argc > 1 && std::string_view(argv[1]) == "--startup") {
    MeasureStartup(gpu, &runner);
  } else {
    RunAll(gpu, &runner);
  }
  std::printf("checks %d failed %d\n", runner.checks(), runner.failures());
  return runner.failures() == 0 ? 0 : 1;
}
