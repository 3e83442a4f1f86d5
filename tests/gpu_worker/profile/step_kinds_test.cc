#include "gpu_worker/profile/step_kinds.h"

#include <catch2/catch.hpp>

namespace {

using warpsmith::profile::GroupSteps;
using warpsmith::profile::StepKind;
using warpsmith::profile::TopKinds;
namespace v1 = warpsmith::v1;

void AddLaunch(v1::ExecutionPlan& plan, uint32_t kernel, uint32_t grid, uint32_t shared = 0) {
  v1::KernelLaunch* launch = plan.add_steps()->mutable_kernel();
  launch->set_kernel(kernel);
  launch->set_grid_x(grid);
  launch->set_grid_y(1);
  launch->set_grid_z(1);
  launch->set_block_x(256);
  launch->set_block_y(1);
  launch->set_block_z(1);
  launch->set_dynamic_shared_bytes(shared);
}

}  // namespace

TEST_CASE("Steps are gathered by kernel and launch shape", "[unit]") {
  v1::ExecutionPlan plan;
  plan.add_kernel_symbols("a");
  plan.add_kernel_symbols("b");
  plan.add_steps()->mutable_memset();
  for (int i = 0; i < 100; ++i) AddLaunch(plan, 0, 64);
  AddLaunch(plan, 1, 64);
  AddLaunch(plan, 1, 64, 1024);
  AddLaunch(plan, 0, 128);
  plan.add_steps()->mutable_library()->set_function("gemm");
  plan.add_steps()->mutable_memset();
  plan.add_steps()->mutable_copy();
  const std::vector<StepKind> kinds = GroupSteps(plan);
  REQUIRE(kinds.size() == 7);
  CHECK(kinds[0].name == "memset");
  CHECK(kinds[0].steps == std::vector<int>{0, 105});
  CHECK(kinds[1].name == "a");
  CHECK(kinds[1].steps.size() == 100);
  CHECK(kinds[2].name == "b");
  CHECK(kinds[3].name == "b");
  CHECK(kinds[4].name == "a");
  CHECK(kinds[4].steps == std::vector<int>{103});
  CHECK(kinds[5].name == "gemm");
  CHECK(kinds[6].name == "copy");
}

TEST_CASE("A kernel that the plan does not have is no crash", "[unit]") {
  v1::ExecutionPlan plan;
  AddLaunch(plan, 7, 1);
  plan.add_steps();
  const std::vector<StepKind> kinds = GroupSteps(plan);
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].name == "unknown");
  CHECK(kinds[1].name == "nothing");
}

TEST_CASE("The kinds that take the most time are kept", "[unit]") {
  std::vector<StepKind> kinds;
  for (int i = 0; i < 20; ++i) kinds.push_back({std::to_string(i), {i}, i == 3 ? 100.0 : i * 1.0});
  const std::vector<StepKind> top = TopKinds(kinds, 16);
  REQUIRE(top.size() == 16);
  CHECK(top[0].name == "3");
  CHECK(top[1].name == "19");
  CHECK(top[15].name == "5");
}
