// Candidates through the real NVRTC in the real sandbox.
#include <catch2/catch.hpp>

#include "tests/gpu_worker/compile/testing.h"

namespace warpsmith::compile {
namespace {

using plan::ParameterKind;

CompileResult Run(const CompileRequest& request) {
  auto result = WithToolkit().Compile(request);
  REQUIRE(result.ok());
  INFO(result->message);
  return *result;
}

constexpr char kKernels[] = R"(
#include <cuda_fp16.h>
struct Pair { float a; int b; double c; };
struct alignas(64) Map { unsigned long long x[16]; };
__constant__ float table[4] = {1, 2, 3, 4};
__device__ const float other_table[4] = {5, 6, 7, 8};
extern "C" __global__ void __launch_bounds__(256) f(float* x, long long n, float a, double d, __half h, bool b,
    short s, Pair p, const __grid_constant__ Map m, unsigned u) {
  x[n] = a + d + (float)h + b + s + p.a + m.x[n & 15] + table[n & 3] + other_table[n & 3] + u + sinf(a);
}
template <int A, typename T> __global__ void g(const T* x, T* y, unsigned long long n) {
  __shared__ float s[A * 4];
  s[threadIdx.x] = x[n];
  __syncthreads();
  y[n] = s[A - 1 - threadIdx.x];
}
namespace inner { __global__ void h(int* x) { assert(x[0] == 1); printf("%d\n", x[1]); } }
)";

TEST_CASE("kernels of every parameter kind and template instances compile to cubins", "[nvrtc]") {
  if (!HaveToolkit("nvrtc kinds")) return;
  CompileResult result = Run(ForGpu(kKernels, {"f", "g<128,float>", "inner::h"}, {"sm_89", "sm_90a"}));
  INFO(result.message);
  REQUIRE(result.outcome == v1::OUTCOME_OK);
  CHECK(result.toolkit_checked);
  CHECK(!result.nvrtc_version.empty());
  REQUIRE(result.cubins.size() == 2);
  CHECK(result.artifact == result.cubins.at("sm_89"));
  CHECK(result.artifact != result.cubins.at("sm_90a"));
  CHECK(result.artifact.substr(0, 4) ==
        "\x7f"
        "ELF");
  REQUIRE(result.kernels.size() == 3);
  const plan::KernelInterface& f = result.kernels[0];
  CHECK(f.plan_name == "f");
  CHECK(f.symbol == "f");
  CHECK(f.max_threads_per_block == 256);
  CHECK(f.registers > 0);
  std::vector<std::pair<ParameterKind, int>> expected = {{ParameterKind::kPointer, 8},  {ParameterKind::kUnknown, 8},
                                                         {ParameterKind::kFloat, 4},    {ParameterKind::kFloat, 8},
                                                         {ParameterKind::kUnknown, 2},  {ParameterKind::kInteger, 1},
                                                         {ParameterKind::kInteger, 2},  {ParameterKind::kStruct, 16},
                                                         {ParameterKind::kStruct, 128}, {ParameterKind::kInteger, 4}};
  REQUIRE(f.parameters.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("parameter " << i);
    CHECK(f.parameters[i].kind == expected[i].first);
    CHECK(f.parameters[i].size == expected[i].second);
  }
  for (size_t i = 1; i < f.parameters.size(); ++i) {
    CHECK(f.parameters[i].offset >= f.parameters[i - 1].offset + f.parameters[i - 1].size);
  }
  const plan::KernelInterface& g = result.kernels[1];
  CHECK(g.plan_name == "g<128,float>");
  CHECK(g.symbol.substr(0, 2) == "_Z");
  CHECK(g.static_shared_bytes == 2048);
  REQUIRE(g.parameters.size() == 3);
  CHECK(g.parameters[0].kind == ParameterKind::kPointer);
  CHECK(g.parameters[2].kind == ParameterKind::kInteger);  // the mangled name tells
  CHECK(result.kernels[2].parameters.size() == 1);
}

// The expected figures are what cuFuncGetAttribute and cuFuncGetParamInfo said of these kernels on an H200.
TEST_CASE("resources of a cubin are the driver's", "[nvrtc]") {
  if (!HaveToolkit("nvrtc resources")) return;
  CompileResult result = Run(ForGpu(R"(
__global__ void shared(float* x) { __shared__ float s[1000]; __shared__ double d[3]; s[threadIdx.x] = x[0];
  d[threadIdx.x % 3] = x[1]; __syncthreads(); x[2] = s[3] + d[1]; }
__global__ void local(float* x, int n) { float a[100]; for (int i = 0; i < 100; i++) a[i] = x[i];
  for (int i = 0; i < n; i++) a[(i * 7) % 100] += a[n % 100]; x[0] = a[n]; }
__global__ void __launch_bounds__(96, 2) odd(float* x) { x[0] = 1; }
struct Big { char c[5000]; };
__global__ void big(const __grid_constant__ Big b, int* x, char q, short r) { x[0] = b.c[x[1]] + q + r; }
template <int N> __global__ void heavy(const float* x, float* y, int n) {
  float v[N];
  for (int k = 0; k < N; k++) v[k] = x[k * n + threadIdx.x];
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int k = 0; k < N; k++) v[k] = fmaf(v[k], v[(k + 1) % N], x[i]);
  }
  for (int k = 0; k < N; k++) y[k * n + threadIdx.x] = v[k];
})",
                                    {"shared", "local", "odd", "big", "heavy<200>"}, {"sm_90"}));
  INFO(result.message);
  REQUIRE(result.kernels.size() == 5);
  CHECK(result.kernels[0].static_shared_bytes == 4024);
  CHECK(result.kernels[0].max_threads_per_block == 1024);
  CHECK(result.kernels[1].local_bytes == 400);
  CHECK(result.kernels[1].static_shared_bytes == 0);
  CHECK(result.kernels[2].max_threads_per_block == 96);
  REQUIRE(result.kernels[3].parameters.size() == 4);
  CHECK(result.kernels[3].parameters[0].size == 5000);
  CHECK(result.kernels[3].parameters[0].kind == ParameterKind::kStruct);
  CHECK(result.kernels[3].parameters[1].offset == 5000);
  CHECK(result.kernels[3].parameters[2].size == 1);
  CHECK(result.kernels[3].parameters[3].offset == 5010);
  CHECK(result.kernels[4].registers == 255);
  CHECK(result.kernels[4].max_threads_per_block == 256);
  CHECK(result.kernels[4].local_bytes > 0);
}

TEST_CASE("options and headers of libcu++ are taken", "[nvrtc]") {
  if (!HaveToolkit("nvrtc options")) return;
  CompileRequest request = ForGpu(
      "#include <cuda/std/limits>\n__global__ void f(float* x) { x[TILE] = cuda::std::numeric_limits<float>::max(); }",
      {"f"});
  request.options = {"-DTILE=4", "--use_fast_math", "--std=c++20", "--maxrregcount=64", "-DON"};
  CompileResult result = Run(request);
  INFO(result.message);
  CHECK(result.outcome == v1::OUTCOME_OK);
  request.options = {"--std=c++98"};
  CHECK(Run(request).outcome == v1::OUTCOME_COMPILE_ERROR);
}

TEST_CASE("errors name the file candidate.cu, the line and nothing of this machine", "[nvrtc]") {
  if (!HaveToolkit("nvrtc errors")) return;
  CompileResult result =
      Run(ForGpu("#include <cuda_fp16.h>\n__global__ void f(__half* x) { x[0] = __hadd(1); y; }", {"f"}));
  CHECK(result.outcome == v1::OUTCOME_COMPILE_ERROR);
  CHECK(result.reason == "source");
  CHECK(Holds(result.message, "candidate.cu(2): error"));
  CHECK(!Holds(result.log, "/usr/"));
  CHECK(result.artifact.empty());
  CHECK(result.kernels.empty());
}

TEST_CASE("writable module variables are refused by name, constants are not", "[nvrtc]") {
  if (!HaveToolkit("nvrtc module_state")) return;
  auto refused = [](const std::string& code, const std::string& variable) {
    CompileResult result = Run(ForGpu(code, {"f"}));
    INFO(code << "\n" << result.message);
    CHECK(result.outcome == v1::OUTCOME_PLAN_ERROR);
    CHECK(result.reason == "module_state");
    CHECK(Holds(result.message, variable));
  };
  refused("__device__ int ticket; __global__ void f(int* x) { x[0] = atomicAdd(&ticket, 1); }", "ticket");
  refused("__global__ void f(int* x) { static int calls; x[0] = ++calls; }", "calls");
  refused(
      "namespace a { static __device__ float state[4] = {1}; } __global__ void f(float* x) { a::state[threadIdx.x] = "
      "x[0]; }",
      "a::state");
  refused("__device__ float s[8]; __global__ void f(float* x, int i) { float* p = i ? s : x; p += i; *p = 1; }", "s");
  // Through a function that is not inlined, and through a pointer kept in memory.
  refused(
      "__device__ int s; __noinline__ __device__ void put(int* p) { *p = 1; } __global__ void f(int* x) { put(&s); "
      "x[0] = 1; }",
      "s");
  refused("__device__ int s; __global__ void f(int** x) { x[0] = &s; }", "s");
  refused("__device__ int s; __device__ int* const p = &s; __global__ void f(int** x, int i) { *((&p)[i]) = 1; }", "s");
  // By inline assembly only, with a variable of its own.
  refused("__global__ void f(int* x) { asm volatile(\"{ .global .u32 hidden; st.global.u32 [hidden], 1; }\"); }",
          "hidden");
  // vprintf is trusted only while it is not the candidate's own.
  refused(
      "extern \"C\" __noinline__ __device__ int vprintf(const char* a, void*) { *(char*)a = 1; return 0; }\n"
      "__device__ char s[4]; __global__ void f(int* x) { x[0] = vprintf(s, nullptr); }",
      "s");
  CompileResult good = Run(
      ForGpu("__device__ const int t[5] = {1, 2, 3, 4, 5}; constexpr int u[3] = {7, 8, 9}; __constant__ float c[2];\n"
             "__global__ void f(float* x, int n) { int s = 0; for (int i = 0; i < n; ++i) s += t[i % 5] * u[i % 3];\n"
             "x[0] = s + c[n] + sinf(x[1]) + cosf(x[2]) + tanf(x[3]); printf(\"%d\\n\", n); assert(n > 0); }",
             {"f"}));
  INFO(good.message);
  CHECK(good.outcome == v1::OUTCOME_OK);
}

TEST_CASE("a module too large for the budget is out_of_memory before anything is loaded", "[nvrtc]") {
  if (!HaveToolkit("nvrtc module size")) return;
  CompileResult huge =
      Run(ForGpu("__device__ float big[1ull << 36]; __global__ void f(float* x) { big[threadIdx.x] = x[0]; }", {"f"}));
  CHECK(huge.outcome == v1::OUTCOME_OUT_OF_MEMORY);
  CHECK(Holds(huge.message, "274877"));
  // Two arrays of 2 GiB: section sizes wrap at 4 GiB.
  CompileResult two = Run(ForGpu(
      "__device__ char a[1ull << 31], b[1ull << 31]; __global__ void f(char* x) { x[0] = a[x[1]] + b[x[2]]; }", {"f"}));
  CHECK(two.outcome == v1::OUTCOME_OUT_OF_MEMORY);
}

TEST_CASE("kernels that are not there are plan errors, and names cannot carry code", "[nvrtc]") {
  if (!HaveToolkit("nvrtc names")) return;
  std::string code =
      "template <int N> __global__ void g(float* x) { static_assert(N > 2, \"N too small\"); x[0] = N; }\n"
      "__device__ int helper(int x) { return x; }\n__global__ void f(float* x) { x[0] = helper(1); }";
  for (const char* name : {"absent", "helper", "g", "f<1>", "f){}; __device__ int x; //", "f\n#include \"/etc/passwd\"",
                           "f;", "sizeof(f)", "", "f<(1)>", "f<1>>"}) {
    CompileResult result = Run(ForGpu(code, {"f", name}));
    INFO(name << "\n" << result.message);
    CHECK(result.outcome == v1::OUTCOME_PLAN_ERROR);
    CHECK(result.reason == "names");
    CHECK(!result.message.empty());
  }
  CompileResult inside = Run(ForGpu(code, {"g<1>"}));
  CHECK(inside.outcome == v1::OUTCOME_COMPILE_ERROR);
  CHECK(Holds(inside.message, "N too small"));
}

TEST_CASE("without a toolkit a GPU's compile is the machine's fault and names the remedy", "[nvrtc]") {
  auto result = WithoutToolkit().Compile(ForGpu("__global__ void f() {}", {"f"}));
  REQUIRE(result.ok());
  CHECK(result->outcome == v1::OUTCOME_INFRA_ERROR);
  CHECK(Holds(result->message, "WARPSMITH_CUDA_PATH"));
}

}  // namespace
}  // namespace warpsmith::compile
