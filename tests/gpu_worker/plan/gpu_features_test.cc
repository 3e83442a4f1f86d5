#include "gpu_worker/plan/gpu_features.h"

#include <catch2/catch.hpp>

#include "gpu_worker/plan/plan.h"
#include "gpu_worker/plan/plan_parser.h"
#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

TEST_CASE("features that need a GPU are named", "[unit]") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"asm(\"trap;\");", "inline assembly"},
      {"asm volatile (\"\" ::: \"memory\");", "inline assembly"},
      {"__asm__(\"\");", "inline assembly"},
      {"a\\\nsm(\"\");", "inline assembly"},
      {"#include <mma.h>\n", "WMMA (mma.h)"},
      {"using namespace nvcuda;", "WMMA (mma.h)"},
      {"#include <cuda/pipeline>\n", "CUDA's C++ library (cuda/pipeline)"},
      {"#include <cuda_pipeline.h>\n", "asynchronous copies (cuda_pipeline.h)"},
      {"cg::memcpy_async(block, a, b, 16);", "asynchronous copies (memcpy_async)"},
      {"__global__ void f(const __grid_constant__ CUtensorMap m) {}", "TMA (CUtensorMap)"},
      {"__global__ void __cluster_dims__(2) f() {}", "thread block clusters"},
      {"#include <cuda_fp8.h>\n", "8-bit floating point (cuda_fp8.h)"},
  };
  for (const auto& [code, feature] : cases) {
    INFO(code);
    CHECK(NeedsGpuFeature(code) == feature);
  }
}

TEST_CASE("words in comments and strings, and longer words, are no features", "[unit]") {
  for (const char* code :
       {"// asm(\"\")\n", "/* nvcuda */", "const char* s = \"asm\";", "int asm_count; int plasm;", "R\"(asm)\";",
        "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n", "", "int cuda;"}) {
    INFO(code);
    CHECK_FALSE(NeedsGpuFeature(std::string_view(code)).has_value());
    CHECK_FALSE(UsesInlineAssembly(code));
  }
  CHECK(UsesInlineAssembly("int a; __asm(\"\");"));
  CHECK_FALSE(UsesInlineAssembly("#include <mma.h>\n"));
}

TEST_CASE("steps that need a GPU are named", "[unit]") {
  auto feature = [](std::string_view steps) { return NeedsGpuFeature(ParsePlan(PlanOf(steps)).value()); };
  const std::string launch = R"({"kernel": "f", "grid": [1], "block": [1], "args": [)";
  CHECK_FALSE(feature(launch + "\"x\"]}").has_value());
  CHECK(feature(launch + R"({"tensor_map": {"tensor": "x", "box": [4]}}]})") == "TMA (tensor_map)");
  CHECK(feature(launch + R"(], "cluster": [2]})") == "thread block clusters");
  CHECK(feature(R"({"repeat": 2, "steps": [{"library": "gemm", "compute": "fp32", "m": 1, "n": 1, "k": 1, "A": "x",
                 "lda": 1, "B": "w", "ldb": 1, "C": "output0", "ldc": 1}]})") == "library step gemm");
}

}  // namespace
}  // namespace warpsmith::plan
