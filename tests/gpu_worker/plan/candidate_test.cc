#include "gpu_worker/plan/candidate.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

constexpr char kFile[] = R"(/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [16, 32, 2]}],
 "steps": [
   {"kernel": "both", "grid": ["4*sm_count"], "block": [256], "shared_bytes": 65536, "args": ["x", "output0", "output1"]}],
 "options": ["--use_fast_math"], "tune": {"TILE": [64, 128]}}
*/
#include <cuda_fp16.h>
extern "C" __global__ void both(const float* x, float* y, long long* z) { y[0] = x[0]; }
)";

TEST_CASE("a candidate goes from file to execution plan", "[unit]") {
  auto candidate = ParseCandidate("\xEF\xBB\xBF" + std::string(kFile));
  INFO(Message(candidate.status()));
  REQUIRE(candidate.ok());
  CHECK(candidate->code == kFile);
  CHECK(candidate->includes == std::vector<std::string>{"cuda_fp16.h"});
  CHECK_FALSE(candidate->needs_gpu.has_value());
  CHECK(KernelNames(candidate->plan) == std::vector<std::string>{"both"});
  for (const TuneAssignment& tune : TuneVariants(candidate->plan, 8)) {
    auto plan = Expand(candidate->plan, Problem(), Kernels(), DeviceLimits::Emulated(candidate->plan.min_arch), tune);
    INFO(Message(plan.status()));
    REQUIRE(plan.ok());
    CHECK(plan->steps(0).kernel().grid_x() == 16);
  }
}

TEST_CASE("CR LF files are candidates", "[unit]") {
  std::string file;
  for (char c : std::string(kFile)) file += c == '\n' ? std::string("\r\n") : std::string(1, c);
  auto candidate = ParseCandidate(file);
  INFO(Message(candidate.status()));
  REQUIRE(candidate.ok());
  CHECK(candidate->code == file);
}

TEST_CASE("errors keep their reason and the file's lines", "[unit]") {
  CheckRejected(ParseCandidate("\n\n/* warpsmith-plan\n{\"version\": 1,\n}\n*/\n").status(),
                {"comma", "json", "line 5, column"});
  CheckRejected(ParseCandidate("/* warpsmith-plan {\"version\": 1, \"steps\": [{}]} */").status(),
                {"step", "field", "steps[0]: a step has exactly one"});
  CheckRejected(ParseCandidate("/* warpsmith-plan {\"a\": \"*/\"} */").status(), {"end in a string", "json", "line 1"});
  CheckRejected(ParseCandidate("/* warpsmith-plan {} {} */").status(), {"two values", "json", "line 1"});
  CheckRejected(ParseCandidate("").status(), {"empty", "plan_comment", "empty"});
}

TEST_CASE("what needs a GPU is told, from the plan first", "[unit]") {
  const std::string plan =
      R"(/* warpsmith-plan {"version": 1, "steps": [{"kernel": "f", "grid": [2], "block": [1], "args": []CLUSTER}]} */)";
  auto with = [&](const std::string& cluster, const std::string& code) {
    std::string file = plan;
    file.replace(file.find("CLUSTER"), 7, cluster);
    return ParseCandidate(file + code).value().needs_gpu;
  };
  CHECK_FALSE(with("", "// asm\n").has_value());
  CHECK(with("", "__global__ void f() { asm(\"\"); }") == "inline assembly");
  CHECK(with(", \"cluster\": [2]", "asm") == "thread block clusters");
}

// Whatever bytes come, the answer is a candidate or a plan error: nothing hangs, throws or passes as ours.
TEST_CASE("damaged files are answered", "[unit]") {
  std::mt19937_64 random(11);
  const std::string file = kFile;
  const std::string bytes("{}[]\",:*/\\#\n\r\0\xFF 09-ex", 22);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = file;
    for (size_t i = 1 + random() % 3; i > 0; --i) {
      const size_t at = random() % damaged.size();
      switch (random() % 4) {
        case 0:
          damaged[at] = bytes[random() % bytes.size()];
          break;
        case 1:
          damaged.erase(at, 1 + random() % 20);
          break;
        case 2:
          damaged.insert(at, 1, bytes[random() % bytes.size()]);
          break;
        default:
          damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 40));
      }
      if (damaged.empty()) damaged = " ";
    }
    auto candidate = ParseCandidate(damaged);
    if (!candidate.ok()) {
      INFO(damaged);
      INFO(Message(candidate.status()));
      REQUIRE_FALSE(PlanErrorReason(candidate.status()).empty());
      continue;
    }
    ++accepted;
    auto plan = Expand(candidate->plan, Problem(), Kernels(), DeviceLimits::ForArchitecture(90),
                       TuneVariants(candidate->plan, 1).front());
    if (!plan.ok()) REQUIRE_FALSE(PlanErrorReason(plan.status()).empty());
  }
  CHECK(accepted > 100);  // some damage is to code or comments
}

}  // namespace
}  // namespace warpsmith::plan
