#include <catch2/catch.hpp>
#include <chrono>

#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/plan_expander.h"
#include "gpu_worker/plan/plan_parser.h"
#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

constexpr char kOutputs[] = R"({"memset": "output0", "value": 0}, {"memset": "output1", "value": 0}, )";

std::string LaunchShape(std::string_view kernel, std::string_view grid, std::string_view block,
                        std::string_view more = "") {
  return std::string(kOutputs) + R"({"kernel": ")" + std::string(kernel) + R"(", "args": [], "grid": )" +
         std::string(grid) + R"(, "block": )" + std::string(block) + std::string(more) + "}";
}

struct Case {
  std::string steps;
  int compute_capability;
  std::string reason;  // empty: accepted
  std::string message;
};

TEST_CASE("launch sizes", "[unit]") {
  const Case cases[] = {
      {LaunchShape("spill", "[2147483647, 65535, 65535]", "[1]"), 90, "", ""},
      {LaunchShape("spill", "[2147483648]", "[1]"), 90, "limits",
       "steps[2].grid[0]: 2147483648 is out of range: 1 to 2147483647"},
      {LaunchShape("spill", "[0]", "[1]"), 90, "limits", "steps[2].grid[0]: 0 is out of range"},
      {LaunchShape("spill", "[-1]", "[1]"), 90, "limits", "steps[2].grid[0]: -1 is out of range"},
      {LaunchShape("spill", "[1, 65536]", "[1]"), 90, "limits", "steps[2].grid[1]: 65536 is out of range: 1 to 65535"},
      {LaunchShape("spill", "[1, 1, 65536]", "[1]"), 90, "limits", "steps[2].grid[2]"},
      {LaunchShape("spill", "[\"1000/3\"]", "[1]"), 90, "range",
       "steps[2].grid[0]: \"1000/3\": 1000 is not a multiple of 3"},
      {LaunchShape("spill", "[1]", "[\"1000/3\"]"), 90, "", ""},  // truncates elsewhere
      {LaunchShape("spill", "[\"1/0\"]", "[1]"), 90, "range", "steps[2].grid[0]: \"1/0\": divides by zero"},
      {LaunchShape("spill", "[1]", "[1024]"), 90, "", ""},
      {LaunchShape("spill", "[1]", "[1025]"), 90, "limits", "steps[2].block[0]: 1025 is out of range: 1 to 1024"},
      {LaunchShape("spill", "[1]", "[1, 1025]"), 90, "limits", "steps[2].block[1]"},
      {LaunchShape("spill", "[1]", "[1, 1, 65]"), 90, "limits", "steps[2].block[2]: 65 is out of range: 1 to 64"},
      {LaunchShape("spill", "[1]", "[32, 33]"), 90, "limits", "steps[2].block: 1056 threads; at most 1024 allowed"},
      {LaunchShape("spill", "[1]", "[0]"), 90, "limits", "steps[2].block[0]: 0"},
      {LaunchShape("spill", "[1]", "[1, 16, 64]"), 90, "", ""},
      {LaunchShape("tight", "[1]", "[256]"), 90, "", ""},
      {LaunchShape("tight", "[1]", "[257]"), 90, "limits", "steps[2].block: 257 threads, but tight takes at most 256"},
      {LaunchShape("tight", "[1]", "[1]", ", \"shared_bytes\": 231424"), 90, "", ""},  // 227 KiB with the static 1 KiB
      {LaunchShape("tight", "[1]", "[1]", ", \"shared_bytes\": 231425"), 90, "limits",
       "steps[2].shared_bytes: 231425 and the kernel's static 1024 are out of range: 0 to 232448"},
      {LaunchShape("tight", "[1]", "[1]", ", \"shared_bytes\": 100352"), 89, "", ""},
      {LaunchShape("tight", "[1]", "[1]", ", \"shared_bytes\": 100353"), 89, "limits", "steps[2].shared_bytes: 100353"},
      {LaunchShape("tight", "[1]", "[1]", ", \"shared_bytes\": 165888"), 80, "", ""},
      {LaunchShape("tight", "[1]", "[1]", ", \"shared_bytes\": 165889"), 80, "limits", "steps[2].shared_bytes"},
      {LaunchShape("tight", "[1]", "[1]", ", \"shared_bytes\": -1"), 90, "limits", "steps[2].shared_bytes: -1"},
      {LaunchShape("tight", "[1]", "[1]", ", \"shared_bytes\": 9223372036854775807"), 90, "limits",
       "steps[2].shared_bytes"},
      {LaunchShape("spill", "[8]", "[1]", ", \"cluster\": [8]"), 90, "", ""},
      {LaunchShape("spill", "[4, 2]", "[1]", ", \"cluster\": [4, 2]"), 90, "", ""},
      {LaunchShape("spill", "[4, 4, 4]", "[1]", ", \"cluster\": [4, 4]"), 90, "limits",
       "steps[2].cluster: at most 8 blocks"},
      {LaunchShape("spill", "[9]", "[1]", ", \"cluster\": [2]"), 90, "limits",
       "steps[2].cluster[0]: 2 does not divide the grid's 9"},
      {LaunchShape("spill", "[8]", "[1]", ", \"cluster\": [1, 2]"), 90, "limits",
       "steps[2].cluster[1]: 2 does not divide"},
      {LaunchShape("spill", "[8]", "[1]", ", \"cluster\": [2]"), 89, "limits",
       "steps[2].cluster: needs sm_90 or later; here it is sm_89"},
      // 132 multiprocessors with two blocks of 1024 threads each.
      {LaunchShape("spill", "[264]", "[1024]", ", \"cooperative\": true"), 90, "", ""},
      {LaunchShape("spill", "[265]", "[1024]", ", \"cooperative\": true"), 90, "limits",
       "steps[2].grid: a cooperative launch of 265x1x1 blocks, but only 264 fit the device at once"},
      {LaunchShape("spill", "[2147483647, 65535, 65535]", "[1024]", ", \"cooperative\": true"), 90, "limits",
       "steps[2].grid"},
      // 128 registers a thread: 16 warps of 32 a multiprocessor, two blocks of 256 threads.
      {LaunchShape("tight", "[264]", "[256]", ", \"cooperative\": true"), 90, "", ""},
      {LaunchShape("tight", "[265]", "[256]", ", \"cooperative\": true"), 90, "limits", "only 264 fit"},
      {LaunchShape("tight", "[265]", "[256]"), 90, "", ""},
  };
  for (const Case& each : cases) {
    INFO(each.steps << " on sm_" << each.compute_capability);
    DeviceLimits limits = DeviceLimits::ForArchitecture(each.compute_capability);
    limits.memory_budget_bytes = int64_t{64} << 30;
    auto plan = ExpandText(PlanOf(each.steps), limits);
    INFO(Message(plan.status()));
    CHECK(plan.ok() == each.reason.empty());
    if (!each.reason.empty()) CheckRejected(plan.status(), {each.steps, each.reason, each.message});
  }
}

TEST_CASE("static shared memory above 48 KiB is refused", "[unit]") {
  std::vector<KernelInterface> kernels = Kernels();
  kernels[10].static_shared_bytes = 48 * 1024 + 1;
  Plan plan = ParsePlan(PlanOf(LaunchShape("spill", "[1]", "[1]"))).value();
  CheckRejected(Expand(plan, Problem(), kernels, DeviceLimits::ForArchitecture(90)).status(),
                {"static", "limits", "steps[2].kernel: 49153 bytes of static shared memory"});
}

TEST_CASE("min_arch is checked against the device, and is the emulated device's", "[unit]") {
  const std::string needs_90 =
      PlanOf(LaunchShape("spill", "[8]", "[1]", ", \"cluster\": [2]"), R"(, "min_arch": "sm_90a")");
  DeviceLimits limits = DeviceLimits::ForArchitecture(90);
  limits.memory_budget_bytes = int64_t{64} << 30;
  CHECK(ExpandText(needs_90, limits).ok());
  CheckRejected(ExpandText(needs_90, DeviceLimits::ForArchitecture(89)).status(),
                {"sm_89", "min_arch", "min_arch: the plan needs sm_90, the device is sm_89"});
  CHECK(ExpandText(needs_90, DeviceLimits::Emulated(Architecture{90, 'a'})).ok());
  CheckRejected(
      ExpandText(PlanOf(LaunchShape("spill", "[8]", "[1]", ", \"cluster\": [2]")), DeviceLimits::Emulated(std::nullopt))
          .status(),
      {"emulated", "limits", "steps[2].cluster: needs sm_90 or later; here it is sm_80 (state \"min_arch\""});
}

TEST_CASE("memory over the budget is out_of_memory, not plan_error", "[unit]") {
  auto with = [](std::string_view shape, std::string_view dtype) {
    return PlanOf(R"({"memset": "output0", "value": 0}, {"memset": "output1", "value": 0})",
                  R"(, "scratch": [{"name": "a", "dtype": ")" + std::string(dtype) + R"(", "shape": )" +
                      std::string(shape) + R"(}, {"name": "b", "dtype": "bool", "shape": []}])");
  };
  DeviceLimits limits = DeviceLimits::ForArchitecture(90);
  limits.memory_budget_bytes = 4096 + 256;
  CHECK(ExpandText(with("[1024]", "float32"), limits).ok());
  auto over = ExpandText(with("[1025]", "float32"), limits);
  CheckRejected(over.status(), {"1025", "out_of_memory", "scratch: 4608 bytes in all; there is room for 4352"});
  CHECK(PlanErrorOutcome(over.status()) == v1::OUTCOME_OUT_OF_MEMORY);
  limits.memory_budget_bytes = INT64_MAX;
  for (const char* shape : {"[9223372036854775807]", "[4294967296, 4294967296]", "[3037000500, 3037000500, 2]"}) {
    CheckRejected(ExpandText(with(shape, "float64"), limits).status(),
                  {shape, "out_of_memory", "scratch[0].shape: its size overflows 64 bits"});
  }
  CheckRejected(ExpandText(with("[9223372036854775807]", "bool"), limits).status(),
                {"INT64_MAX", "out_of_memory", "scratch[0].shape: its size overflows"});
  CHECK(PlanErrorOutcome(ExpandText(with("[4]", "bool"), DeviceLimits::ForArchitecture(80)).status()) ==
        v1::OUTCOME_INFRA_ERROR);  // an OK status has no reason
}

TEST_CASE("local memory of every resident thread counts", "[unit]") {
  // 4096 bytes, 132 multiprocessors, 2048 threads.
  const int64_t local = int64_t{4096} * 132 * 2048;
  DeviceLimits limits = DeviceLimits::ForArchitecture(90);
  limits.memory_budget_bytes = local;
  CHECK(ExpandText(PlanOf(LaunchShape("spill", "[1]", "[1]")), limits).ok());
  limits.memory_budget_bytes = local - 1;
  CheckRejected(ExpandText(PlanOf(LaunchShape("spill", "[1]", "[1]")), limits).status(),
                {"local", "out_of_memory", "kernel spill: 4096 bytes of local memory a thread"});
  limits.memory_budget_bytes = 1 << 20;
  CHECK(ExpandText(PlanOf(LaunchShape("tight", "[1]", "[1]")), limits).ok());  // spill is not used
}

TEST_CASE("at most 100,000 launches, counted before anything is unrolled", "[unit]") {
  const DeviceLimits limits = DeviceLimits::ForArchitecture(90);
  auto repeat = [](std::string_view count, std::string_view inner) {
    return R"({"repeat": )" + std::string(count) + R"(, "index": "t)" + std::to_string(inner.size()) +
           R"(", "steps": [)" + std::string(inner) + "]}";
  };
  const std::string leaf = R"({"memset": "output1", "value": 0})";
  auto plan = ExpandText(PlanOf(kOutputs + repeat("99998", leaf)), limits);
  REQUIRE(plan.ok());
  CHECK(plan->steps_size() == 100000);
  CheckRejected(ExpandText(PlanOf(kOutputs + repeat("99999", leaf)), limits).status(),
                {"100001", "limits", "steps[2]: the plan has more than 100000 launches in all"});
  const std::string big = "9223372036854775807";
  const auto start = std::chrono::steady_clock::now();
  CheckRejected(ExpandText(PlanOf(kOutputs + repeat(big, repeat(big, repeat(big, leaf)))), limits).status(),
                {"2^189", "limits", "steps[2]: the plan has more than 100000"});
  CheckRejected(ExpandText(PlanOf(kOutputs + repeat("1000", repeat("1000", leaf))), limits).status(),
                {"1000*1000", "limits", "steps[2].steps[0]: the plan has more than 100000"});
  CheckRejected(ExpandText(PlanOf(kOutputs + repeat("90000", leaf + ", " + leaf)), limits).status(),
                {"two a turn", "limits", "the plan has more than 100000"});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  // Counts may depend on outer indexes: 1 + 2 + ... + 10.
  plan = ExpandText(PlanOf(std::string(kOutputs) +
                           R"({"repeat": 10, "index": "a", "steps": [{"repeat": "a + 1", "steps": [)" + leaf + "]}]}"),
                    limits);
  REQUIRE(plan.ok());
  CHECK(plan->steps_size() == 2 + 55);
  CheckRejected(
      ExpandText(PlanOf(std::string(kOutputs) +
                        R"({"repeat": 10, "index": "a", "steps": [{"repeat": "5 - a", "steps": [)" + leaf + "]}]}"),
                 limits)
          .status(),
      {"5 - a", "range", "steps[2].steps[0].repeat: 0 is out of range: at least 1"});
  CheckRejected(
      ExpandText(
          PlanOf(std::string(kOutputs) + R"({"repeat": "sm_count*9223372036854775807", "steps": [)" + leaf + "]}"),
          limits)
          .status(),
      {"overflow", "range", "steps[2].repeat: \"sm_count*9223372036854775807\" with sm_count=132: overflows"});
}

TEST_CASE("a plan is checked before there is a kernel", "[unit]") {
  const DeviceLimits limits = DeviceLimits::ForArchitecture(90);
  auto check = [&](const std::string& steps, std::string_view extra = "") {
    Plan plan = ParsePlan(PlanOf(std::string(kOutputs) + steps, extra)).value();
    return CheckPlan(plan, Problem(), limits, TuneVariants(plan, 1).front());
  };
  // What only a kernel could tell is not asked.
  CHECK(check(R"({"kernel": "absent", "grid": [1], "block": [1024], "args": ["x", {"i32": 1}, {"f64": 2}]})").ok());
  CheckRejected(check(R"({"kernel": "absent", "grid": [1], "block": [1025], "args": []})"),
                {"block", "limits", "steps[2].block[0]"});
  CheckRejected(check(R"({"kernel": "absent", "grid": [1], "block": [1], "args": ["absent"]})"),
                {"tensor", "names", "steps[2].args[0]: no tensor is called"});
  CheckRejected(check(R"({"kernel": "absent", "grid": [1], "block": [1], "args": [{"u8": "sm_count * 2"}]})"),
                {"literal", "range", "steps[2].args[0].u8: 264 is out of u8's range"});
  CheckRejected(check(R"({"memset": "x", "value": 0})"), {"memset", "names", "steps[2].memset"});
  CheckRejected(check(R"({"memset": "output0", "value": 0})", R"(, "min_arch": "sm_100")"),
                {"min_arch", "min_arch", "min_arch: the plan needs sm_100"});
  Plan unwritten = ParsePlan(PlanOf(R"({"memset": "output0", "value": 0})")).value();
  CheckRejected(CheckPlan(unwritten, Problem(), limits), {"output1", "names", "nothing writes output1"});
}

TEST_CASE("what expansion may cost is bounded", "[unit]") {
  std::vector<KernelInterface> kernels = Kernels();
  kernels[9].parameters.assign(1000, {ParameterKind::kInteger, 1, 0});
  std::string args, sum = "t";
  for (int i = 0; i < 1000; ++i) args += std::string(i == 0 ? "" : ", ") + R"({"bool": 0})";
  const std::string many =
      PlanOf(std::string(kOutputs) + R"({"repeat": 50000, "steps": [{"kernel": "tight", "grid": [1],
      "block": [1], "args": [)" +
             args + "]}]}");
  CheckRejected(
      Expand(ParsePlan(many).value(), Problem(), kernels, DeviceLimits::ForArchitecture(90)).status(),
      {"50 million arguments", "limits", "steps[2].steps[0].args: the plan's launches have more than 1000000"});
  for (int i = 0; i < 400; ++i) sum += "+t";
  const std::string slow =
      PlanOf(std::string(kOutputs) + R"({"repeat": 90000, "index": "t", "steps": [{"kernel": "spill",
      "grid": [")" +
             sum + " - 401*t + 1\"], \"block\": [\"" + sum + " - 401*t + 1\"], \"args\": []}]}");
  DeviceLimits limits = DeviceLimits::ForArchitecture(90);
  limits.memory_budget_bytes = int64_t{64} << 30;
  ExpandOptions options;
  options.max_evaluations = 1000000;
  CheckRejected(ExpandText(slow, limits, options).status(),
                {"slow", "limits", "steps[2].steps[0].block[0]: the plan's expressions take too long"});
  std::string more = args;
  for (int i = 0; i < 25; ++i) more += R"(, {"bool": 0})";
  CheckRejected(ParsePlan(PlanOf(R"({"kernel": "f", "grid": [1], "block": [1], "args": [)" + more + "]}")).status(),
                {"1025 arguments", "field", "steps[0].args: a list of 1025; at most 1024"});
}

}  // namespace
}  // namespace warpsmith::plan
