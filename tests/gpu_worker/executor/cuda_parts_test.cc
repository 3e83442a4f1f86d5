// What of the executor for GPUs can be told without one.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>

#include "gpu_worker/executor/cuda/graph_budget.h"
#include "gpu_worker/executor/cuda/kernel_arguments.h"
#include "gpu_worker/executor/cuda/poison.h"

namespace warpsmith::executor {
namespace {

TEST_CASE("poison is a NaN of every width and changes from sample to sample", "[unit]") {
  std::set<uint32_t> seen;
  for (uint32_t number = 0; number < kPoisonPatterns; ++number) {
    uint32_t pattern = PoisonPattern(number);
    CHECK(seen.insert(pattern).second);
    float single = 0;
    std::memcpy(&single, &pattern, sizeof single);
    uint64_t twice = uint64_t{pattern} << 32 | pattern;
    double wide = 0;
    std::memcpy(&wide, &twice, sizeof wide);
    bool halves = true;
    for (uint32_t half : {pattern >> 16, pattern & 0xffff}) {
      halves = halves && (half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0 &&  // float16
               (half & 0x7f80) == 0x7f80 && (half & 0x7f) != 0;               // bfloat16
    }
    if (!std::isnan(single) || !std::isnan(wide) || !halves || static_cast<int32_t>(pattern) >= 0) FAIL(number);
  }
  CHECK(PoisonPattern(kPoisonPatterns) == PoisonPattern(0));
}

v1::KernelLaunch Launch() {
  v1::KernelLaunch launch;
  launch.add_arguments()->mutable_view()->set_buffer(2);
  launch.mutable_arguments(0)->mutable_view()->set_offset_bytes(48);
  launch.add_arguments()->set_literal(std::string("\x01\x02\x03\x04", 4));
  launch.add_arguments()->mutable_tensor_map()->set_dtype("float32");
  launch.add_arguments()->set_literal(std::string(200, 'z'));
  launch.add_arguments()->set_literal(std::string("\x09", 1));
  return launch;
}

TEST_CASE("arguments are laid out as the kernel's parameters", "[unit]") {
  v1::KernelLaunch launch = Launch();
  KernelArguments arguments(launch);
  CHECK(arguments.sizes() == std::vector<size_t>{8, 4, 128, 200, 1});
  uint64_t base = 0x700000000000;
  auto address = [&base](uint32_t buffer) { return base + buffer * 0x1000; };
  auto encode = [](const v1::TensorMap& map, void* descriptor) {
    CHECK(map.dtype() == "float32");
    CHECK(reinterpret_cast<uintptr_t>(descriptor) % 64 == 0);
    std::memset(descriptor, 0x5a, 128);
    return absl::OkStatus();
  };
  for (int i = 0; i < 2; ++i, base += 0x10000) {  // a second slot
    absl::StatusOr<void**> resolved = arguments.Resolve(address, encode);
    REQUIRE(resolved.ok());
    uint64_t pointer = 0;
    std::memcpy(&pointer, (*resolved)[0], 8);
    CHECK(pointer == base + 0x2000 + 48);
    CHECK(std::memcmp((*resolved)[1], "\x01\x02\x03\x04", 4) == 0);
    CHECK(std::string(static_cast<char*>((*resolved)[2]), 128) == std::string(128, 0x5a));
    CHECK(std::string(static_cast<char*>((*resolved)[3]), 200) == std::string(200, 'z'));
    CHECK(*static_cast<char*>((*resolved)[4]) == 9);
  }
  auto refuse = [](const v1::TensorMap&, void*) { return FailedPrecondition("no TMA"); };
  CHECK(Message(arguments.Resolve(address, refuse).status()) == "argument 2 (tensor_map): no TMA");
}

TEST_CASE("arguments are compared with the compiled kernel", "[unit]") {
  v1::KernelLaunch launch = Launch();
  KernelArguments arguments(launch);
  CHECK(arguments.CheckAgainst({8, 4, 128, 200, 1}).ok());
  CHECK(Message(arguments.CheckAgainst({8, 4, 128, 200})) == "5 arguments for a kernel that takes 4");
  CHECK(Message(arguments.CheckAgainst({8, 8, 128, 200, 1})) == "argument 1 has 4 bytes, the kernel's parameter 8");
  v1::KernelLaunch none;
  CHECK(KernelArguments(none).CheckAgainst({}).ok());
}

TEST_CASE("graphs are kept within a budget, those used last first", "[unit]") {
  GraphBudget budget(100);
  CHECK(budget.Use(0, 40).empty());
  CHECK(budget.Use(1, 40).empty());
  CHECK(budget.Use(0, 40).empty());
  CHECK(budget.Use(2, 40) == std::vector<int>{1});
  CHECK(budget.Total() == 80);
  CHECK(budget.Use(3, 500) == std::vector<int>{0, 2});  // one, however large
  CHECK(budget.Use(3, 500).empty());
  CHECK(budget.Use(1, 40) == std::vector<int>{3});
}

}  // namespace
}  // namespace warpsmith::executor
