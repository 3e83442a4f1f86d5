#include "gpu_worker/plan/argument_binder.h"

#include <catch2/catch.hpp>

#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

TEST_CASE("tensor maps", "[unit]") {
  auto map = [](std::string_view fields) {
    return PlanOf(Launch("mapped", R"({"tensor_map": {)" + std::string(fields) + "}}"),
                  R"(, "scratch": [{"name": "odd", "dtype": "float32", "shape": [4, 6]},
                      {"name": "scalar", "dtype": "float32", "shape": []},
                      {"name": "line", "dtype": "float16", "shape": [4096]},
                      {"name": "six", "dtype": "float32", "shape": [1, 1, 1, 1, 1, 4]}])");
  };
  auto plan = ExpandText(map(R"("tensor": "x", "box": [32, 8], "swizzle": "128B")"), TestDevice());
  REQUIRE(plan.ok());
  const v1::TensorMap& made = plan->steps(1).kernel().arguments(0).tensor_map();
  CHECK(made.view().buffer() == 0);
  CHECK(made.dtype() == "float32");
  CHECK(std::vector<int64_t>(made.shape().begin(), made.shape().end()) == std::vector<int64_t>{1024, 64});
  CHECK(std::vector<int64_t>(made.stride_bytes().begin(), made.stride_bytes().end()) == std::vector<int64_t>{4096});
  CHECK(std::vector<uint32_t>(made.box().begin(), made.box().end()) == std::vector<uint32_t>{32, 8});
  CHECK(made.swizzle() == "128B");
  CHECK(ExpandText(map(R"("tensor": "line", "box": [256])"), TestDevice()).ok());
  const std::pair<std::string, Rejection> bad[] = {
      {R"("tensor": "x", "box": [32])",
       {"rank", "range", "steps[1].args[0].tensor_map.box: 1 sides, but x has 2 dimensions"}},
      {R"("tensor": "x", "box": [3, 8])",
       {"12 bytes", "range", "tensor_map.box[0]: 12 bytes; a multiple of 16 needed"}},
      {R"("tensor": "x", "box": [64, 8], "swizzle": "128B")", {"256 bytes", "range", "box[0]: 256 bytes; at most 128"}},
      {R"("tensor": "x", "box": [16, 8], "swizzle": "32B")", {"64 bytes", "range", "box[0]: 64 bytes; at most 32"}},
      {R"("tensor": "t", "box": [4, 4])",
       {"strided", "range", "tensor_map.tensor: t's innermost dimension has stride 32"}},
      {R"("tensor": "odd", "box": [4, 4])",
       {"24 bytes", "range", "tensor_map.tensor: dimension 0 of odd has a stride of 24"}},
      {R"("tensor": "scalar", "box": [4])", {"scalar", "range", "scalar has 0 dimensions; 1 to 5"}},
      {R"("tensor": "six", "box": [4, 1, 1, 1, 1])", {"six", "range", "six has 6 dimensions"}},
      {R"("tensor": "none", "box": [4, 1])", {"none", "range", "dimension 0 of none has 0 elements"}},
      {R"("tensor": "absent", "box": [4, 1])", {"absent", "names", "steps[1].args[0]: no tensor is called \"absent\""}},
  };
  for (const auto& [fields, rejection] : bad) CheckRejected(ExpandText(map(fields), TestDevice()).status(), rejection);
  CheckRejected(ExpandText(map(R"("tensor": "x", "box": [32, 8])"), DeviceLimits::ForArchitecture(89)).status(),
                {"sm_89", "limits", "steps[1].args[0].tensor_map: needs sm_90 or later; here it is sm_89"});
}

}  // namespace
}  // namespace warpsmith::plan
