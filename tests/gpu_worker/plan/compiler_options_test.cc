#include "gpu_worker/plan/compiler_options.h"

#include <catch2/catch.hpp>

#include "gpu_worker/plan/plan_parser.h"
#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

TEST_CASE("options, architectures and tuning values", "[unit]") {
  for (const char* option : {"--use_fast_math", "--fmad=false", "--ftz=true", "--prec-div=false", "--prec-sqrt=true",
                             "--maxrregcount=16", "--maxrregcount=255", "--extra-device-vectorization", "--std=c++14",
                             "--std=c++17", "--std=c++20", "-DX", "-DX=1", "-DX_1=-9223372036854775808"}) {
    INFO(option);
    CHECK(ParsePlan(PlanOf(kKernel, ", \"options\": [\"" + std::string(option) + "\"]")).ok());
  }
  for (const char* option : {"",
                             " ",
                             "-use_fast_math",
                             "--use_fast_math ",
                             "--fmad=1",
                             "--fmad",
                             "--ftz=TRUE",
                             "--maxrregcount=15",
                             "--maxrregcount=256",
                             "--maxrregcount=064",
                             "--maxrregcount=",
                             "--maxrregcount=1e2",
                             "--std=c++11",
                             "--std=c++23",
                             "-I/etc",
                             "--include-path=/etc",
                             "--pre-include=/etc/passwd",
                             "-D",
                             "-D_X",
                             "-D__x86_64__",
                             "-DX=",
                             "-DX=a",
                             "-DX=1.5",
                             "-DX=1 -I/",
                             "-DX(a)=1",
                             "-D X",
                             "-DX=99999999999999999999",
                             "--gpu-architecture=sm_90",
                             "-default-device",
                             "--device-debug",
                             "-DX=+1",
                             "-DX=0x10",
                             "-lineinfo"}) {
    CheckRejected(ParsePlan(PlanOf(kKernel, ", \"options\": [\"-DA\", \"" + std::string(option) + "\"]")).status(),
                  {option, "options", "options[1]: "});
  }
  std::string many = "\"-DA\"", full = "\"-DA\"";
  for (int i = 0; i < 32; ++i) many += ", \"-DA" + std::to_string(i) + "\"";
  CheckRejected(ParsePlan(PlanOf(kKernel, ", \"options\": [" + many + "]")).status(),
                {"33", "field", "options: a list of 33; at most 32"});
  for (int i = 0; i < 31; ++i) full += ", \"-DA" + std::to_string(i) + "\"";
  CHECK(ParsePlan(PlanOf(kKernel, ", \"options\": [" + full + "]")).ok());
  CheckRejected(ParsePlan(PlanOf(kKernel, R"(, "options": ["-DA=1", "-DA=2"])")).status(),
                {"twice", "options", "options[1]: -DA stands twice"});
  CheckRejected(ParsePlan(PlanOf(kKernel, R"(, "options": ["--ftz=true", "--ftz=false"])")).status(),
                {"twice", "options", "options[1]: --ftz stands twice"});
  CheckRejected(ParsePlan(PlanOf(kKernel, R"(, "options": [1])")).status(),
                {"1", "field", "options[0]: expected a string"});

  for (const char* arch : {"sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_120a"}) {
    INFO(arch);
    CHECK(ParsePlan(PlanOf(kKernel, ", \"min_arch\": \"" + std::string(arch) + "\"")).ok());
  }
  for (const char* arch : {"", "90", "sm_", "sm_9", "sm_90b", "sm_90aa", "sm90", "SM_90", "sm_090", "sm_-9", "sm_1000",
                           "compute_90", "sm_90 ", "sm_89a", "sm_90f"}) {
    CheckRejected(ParsePlan(PlanOf(kKernel, ", \"min_arch\": \"" + std::string(arch) + "\"")).status(),
                  {arch, "min_arch", "min_arch: "});
  }

  const std::pair<std::string, Rejection> tunes[] = {
      {R"("TILE": 64)", {"64", "field", "tune.TILE: expected a list"}},
      {R"("TILE": [])", {"[]", "field", "tune.TILE: a list of 0"}},
      {R"("TILE": [1.5])", {"1.5", "field", "tune.TILE[0]: expected an integer"}},
      {R"("TILE": [1, "2"])", {"\"2\"", "field", "tune.TILE[1]: expected an integer"}},
      {R"("TILE": [1, 1])", {"1, 1", "field", "tune.TILE[1]: 1 stands twice"}},
      {R"("_TILE": [1])", {"_TILE", "field", "tune._TILE: cannot name"}},
      {R"("A B": [1])", {"A B", "field", "tune.A B: cannot name"}},
      {R"("sm_count": [1])", {"sm_count", "field", "tune.sm_count: cannot name"}},
      {R"("max": [1])", {"max", "field", "tune.max: cannot name"}},
      {R"("A":[1],"B":[1],"C":[1],"D":[1],"E":[1],"F":[1],"G":[1],"H":[1],"I":[1])",
       {"nine", "limits", "tune: 9 names"}},
  };
  for (const auto& [tune, rejection] : tunes) {
    CheckRejected(ParsePlan(PlanOf(kKernel, ", \"tune\": {" + tune + "}")).status(), rejection);
  }
  CheckRejected(ParsePlan(PlanOf(kKernel, R"(, "tune": {"X": [1]}, "options": ["-DX"])")).status(),
                {"X", "names", "tune.X: options define the name too"});
  CheckRejected(ParsePlan(PlanOf(R"({"repeat": 2, "index": "X", "steps": [{"memset": "a", "value": 0}]})",
                                 R"(, "tune": {"X": [1]})"))
                    .status(),
                {"X", "names", "steps[0].index: the name X is taken"});
}

}  // namespace
}  // namespace warpsmith::plan
