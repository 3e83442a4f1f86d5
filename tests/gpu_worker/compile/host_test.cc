// Candidates through the real g++ in the real sandbox, for the emulated device.
#include <catch2/catch.hpp>
#include <filesystem>

#include "gpu_worker/compile/host_job.h"
#include "tests/gpu_worker/compile/testing.h"

namespace warpsmith::compile {
namespace {

using plan::ParameterKind;

CompileResult Run(Compiler& compiler, const CompileRequest& request) {
  auto result = compiler.Compile(request);
  REQUIRE(result.ok());
  return *result;
}

TEST_CASE("kernels become a shared object with exact interfaces", "[host]") {
  std::string code =
      "__global__ void write(float* x, int n, long long m, float a) { __shared__ float s[32]; s[threadIdx.x] = a;\n"
      "  x[n] = s[1] + m; }\n"
      "template <int A, typename T> __global__ void g(T* x, double y) { x[A] = y; }\n";
  for (bool toolkit : {false, true}) {
    if (toolkit && !HaveToolkit("host with toolkit")) continue;
    CompileResult result =
        Run(toolkit ? WithToolkit() : WithoutToolkit(), Emulated(code, {"write", "g<3, unsigned int>"}));
    INFO(result.message);
    REQUIRE(result.outcome == v1::OUTCOME_OK);
    CHECK(result.toolkit_checked == toolkit);
    CHECK(result.cubins.empty());
    REQUIRE(result.kernels.size() == 2);
    CHECK(result.kernels[0].symbol == "warpsmith_invoke_0");
    CHECK(result.kernels[1].symbol == "warpsmith_invoke_1");
    CHECK(result.kernels[1].plan_name == "g<3, unsigned int>");
    const auto& parameters = result.kernels[0].parameters;
    REQUIRE(parameters.size() == 4);
    CHECK(parameters[0].kind == ParameterKind::kPointer);
    CHECK(parameters[1].kind == ParameterKind::kInteger);
    CHECK(parameters[1].size == 4);
    CHECK(parameters[2].kind == ParameterKind::kInteger);
    CHECK(parameters[2].size == 8);
    CHECK(parameters[3].kind == ParameterKind::kFloat);
    if (toolkit) {
      CHECK(result.kernels[0].registers > 0);
      CHECK(result.kernels[0].static_shared_bytes == 128);
    }
  }
}

TEST_CASE("a kernel called write, or main, or memcpy hides nothing of the executor's", "[host]") {
  CompileResult result = Run(WithoutToolkit(), Emulated("extern \"C\" __attribute__((visibility(\"default\")))\n"
                                                        "__global__ void write(float* x) { x[0] = 1; }",
                                                        {"write"}));
  REQUIRE(result.outcome == v1::OUTCOME_OK);
  // Exported symbols are the registrations only.
  std::string names(result.artifact);
  CHECK(Holds(names, "warpsmith_invoke_0"));
  size_t dynamic = names.find("warpsmith_kernel_0");
  REQUIRE(dynamic != std::string::npos);
  CHECK(!Holds(names.substr(0, dynamic), std::string("\0write\0", 7)));
}

TEST_CASE("macros of the host are not to be seen, the candidate's own are", "[host]") {
  CompileRequest request = Emulated(
      "#if defined(__x86_64__) || defined(__linux__) || defined(__GNUC__) || defined(__AVX2__) || defined(__SSE2__)\n"
      "#error host\n#endif\n#if TILE != 4 || ON != 1\n#error options\n#endif\n"
      "__global__ void f(float* x) { x[TILE] = 1; }",
      {"f"});
  request.options = {"-DTILE=4", "-DON", "--fmad=false", "--use_fast_math", "--std=c++20"};
  CompileResult result = Run(WithoutToolkit(), request);
  INFO(result.message);
  CHECK(result.outcome == v1::OUTCOME_OK);
}

TEST_CASE("what only a host has is refused without a toolkit too", "[host]") {
  auto refused = [](const std::string& code, const std::string& part) {
    CompileResult result = Run(WithoutToolkit(), Emulated(code, {"f"}));
    INFO(code << "\n" << result.message);
    CHECK(result.outcome == v1::OUTCOME_COMPILE_ERROR);
    CHECK(result.reason == "source");
    CHECK(Holds(result.message, part));
  };
  refused("extern \"C\" int system(const char*); __global__ void f(int* x) { x[0] = system(\"id\"); }", "system");
  refused(
      "struct S { S() { value = 1; } int value; }; int make(); extern int global; \n"
      "__attribute__((constructor)) static void start() { __builtin_trap(); } __global__ void f(int* x) { x[0] = 1; }",
      "when the module is loaded");
  refused("#include <vector>\n__global__ void f(int* x) { x[0] = 1; }", "vector");
  refused("#include <unistd.h>\n__global__ void f(int* x) { x[0] = getpid(); }", "unistd.h");
  refused("__global__ void f(int* x) { throw 1; }", "exception");
  CompileResult state =
      Run(WithoutToolkit(), Emulated("__device__ int ticket; __global__ void f(int* x) { x[0] = ++ticket; }", {"f"}));
  CHECK(state.outcome == v1::OUTCOME_PLAN_ERROR);
  CHECK(state.reason == "module_state");
  CHECK(Holds(state.message, "ticket"));
  CompileResult constant =
      Run(WithoutToolkit(),
          Emulated("__constant__ int t[4] = {1, 2, 3, 4}; __global__ void f(int* x) { x[0] = t[x[1]]; }", {"f"}));
  INFO(constant.message);
  CHECK(constant.outcome == v1::OUTCOME_OK);
}

TEST_CASE("inline assembly needs a GPU where NVRTC takes it", "[host]") {
  std::string code = "__global__ void f(int* x) { int y; asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(y)); x[0] = y; }";
  CompileResult alone = Run(WithoutToolkit(), Emulated(code, {"f"}));
  CHECK(alone.outcome == v1::OUTCOME_NEEDS_GPU);
  CHECK(alone.reason == "inline assembly");
  if (!HaveToolkit("host asm")) return;
  CHECK(Run(WithToolkit(), Emulated(code, {"f"})).outcome == v1::OUTCOME_NEEDS_GPU);
  // Not where NVRTC refuses it: then the source is wrong.
  code = "__global__ void f(int* x) { asm(\"no such instruction;\"); }";
  CHECK(Run(WithToolkit(), Emulated(code, {"f"})).outcome == v1::OUTCOME_COMPILE_ERROR);
}

TEST_CASE("a candidate cannot claim the marker for itself", "[host]") {
  CompileResult result =
      Run(WithoutToolkit(), Emulated("#error WARPSMITH_NEEDS_GPU me\n__global__ void f() {}", {"f"}));
  CHECK(result.outcome == v1::OUTCOME_COMPILE_ERROR);
}

TEST_CASE("sources that swallow what follows them are errors", "[host]") {
  for (const char* tail :
       {"\n#if 1\n", "\n/* ", "\nR\"x(", "\nnamespace a {", "\n#define WARPSMITH_EMULATED_KERNEL(...)\n", "\n#if 0\n",
        "\nstruct a {", "\n#define extern static\n"}) {
    CompileResult result =
        Run(WithoutToolkit(), Emulated(std::string("__global__ void f(float* x) { x[0] = 1; }") + tail, {"f"}));
    INFO(tail << "\n" << result.message);
    CHECK(result.outcome != v1::OUTCOME_OK);
    CHECK(result.outcome != v1::OUTCOME_NEEDS_GPU);
    CHECK(result.outcome != v1::OUTCOME_INFRA_ERROR);
  }
}

TEST_CASE("missing kernels are plan errors and names cannot carry code", "[host]") {
  std::string code = "__global__ void f(float* x) { x[0] = 1; }";
  for (const char* name : {"absent", "f<1>", "f) int y; extern (", "f\nint y;", "f);"}) {
    CompileResult result = Run(WithoutToolkit(), Emulated(code, {"f", name}));
    INFO(name << "\n" << result.message);
    CHECK(result.outcome == v1::OUTCOME_PLAN_ERROR);
    CHECK(result.reason == "names");
  }
}

TEST_CASE("a machine without g++ says so", "[host]") {
  ChildCompilerOptions options = Options(false);
  options.host_compiler = "g++-of-no-machine";
  ChildCompiler compiler(options);
  CompileResult result = Run(compiler, Emulated("__global__ void f() {}", {"f"}));
  CHECK(result.outcome == v1::OUTCOME_INFRA_ERROR);
  CHECK(Holds(result.message, "apt-get install g++"));
}

TEST_CASE("the precompiled header is built once and shared by processes", "[host]") {
  auto folder = TemporaryDirectory::Create("warpsmith-test");
  REQUIRE(folder.ok());
  ChildCompilerOptions options = Options(false);
  options.cache_folder = folder->path();
  for (int i = 0; i < 2; ++i) {
    ChildCompiler compiler(options);
    CHECK(Run(compiler, Emulated("__global__ void f(float* x) { x[0] = 1; }", {"f"})).outcome == v1::OUTCOME_OK);
  }
  int built = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder->path())) {
    built += entry.path().extension() == ".gch";
  }
  CHECK(built == 1);
}

TEST_CASE("the real emulation headers take ordinary CUDA and refuse what needs a GPU", "[host]") {
  ChildCompiler compiler(Options(false, false));
  CompileResult good =
      Run(compiler,
          Emulated(
              "#include <cuda_fp16.h>\n#include <math_constants.h>\nextern __shared__ float dynamic[];\n"
              "template <int BLOCK> __global__ void __launch_bounds__(BLOCK) f(const float* __restrict__ x, float* y,\n"
              "    int n, __half h) {\n"
              "  __shared__ float s[BLOCK]; float m = -CUDART_INF_F;\n"
              "  for (int i = threadIdx.x; i < n; i += BLOCK) m = fmaxf(m, x[i]);\n"
              "  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));\n"
              "  s[threadIdx.x] = m; dynamic[threadIdx.x] = expf(m); __syncthreads();\n"
              "  y[blockIdx.x] = s[0] + dynamic[0] + __half2float(h); }\n",
              {"f<256>"}));
  INFO(good.message);
  REQUIRE(good.outcome == v1::OUTCOME_OK);
  REQUIRE(good.kernels[0].parameters.size() == 4);
  CHECK(good.kernels[0].parameters[3].size == 2);
  CHECK(good.kernels[0].parameters[3].kind == ParameterKind::kFloat);
  CompileResult wmma = Run(compiler, Emulated("#include <mma.h>\n__global__ void f() {}", {"f"}));
  CHECK(wmma.outcome == v1::OUTCOME_NEEDS_GPU);
  CompileResult assembly = Run(compiler, Emulated("__global__ void f() { asm volatile(\"bar.sync 0;\"); }", {"f"}));
  CHECK(assembly.outcome == v1::OUTCOME_NEEDS_GPU);
}

TEST_CASE("what NVRTC takes for any GPU and the emulated device cannot do needs a GPU", "[host][nvrtc]") {
  if (!HaveToolkit("emulated features")) return;
  ChildCompiler compiler(Options(true, false));
  CompileResult plain = Run(compiler, Emulated("__global__ void f(float* x, int n) { __shared__ float s[64];\n"
                                               "  s[threadIdx.x] = x[n]; __syncthreads(); x[0] = s[1]; }",
                                               {"f"}));
  INFO(plain.message);
  REQUIRE(plain.outcome == v1::OUTCOME_OK);
  CHECK(plain.kernels[0].static_shared_bytes == 256);
  CompileResult wmma =
      Run(compiler, Emulated("#include <mma.h>\nusing namespace nvcuda;\n__global__ void f(float* x) {\n"
                             "  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c; wmma::fill_fragment(c, 0.0f);\n"
                             "  wmma::store_matrix_sync(x, c, 16, wmma::mem_row_major); }",
                             {"f"}));
  INFO(wmma.message);
  CHECK(wmma.outcome == v1::OUTCOME_NEEDS_GPU);
  // Only the architecture-specific variant of sm_90 takes this.
  CompileResult wgmma =
      Run(compiler, Emulated("__global__ void f() { asm volatile(\"wgmma.fence.sync.aligned;\"); }", {"f"}));
  INFO(wgmma.message);
  CHECK(wgmma.outcome == v1::OUTCOME_NEEDS_GPU);
  CompileResult wrong =
      Run(compiler, Emulated("#include <mma.h>\n__global__ void f(float* x) { x = nothing; }", {"f"}));
  CHECK(wrong.outcome == v1::OUTCOME_COMPILE_ERROR);
  CompileResult state = Run(compiler, Emulated("__device__ int t; __global__ void f(int* x) { x[0] = t++; }", {"f"}));
  CHECK(state.reason == "module_state");
}

}  // namespace
}  // namespace warpsmith::compile
