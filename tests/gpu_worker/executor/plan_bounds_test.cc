#include "gpu_worker/executor/plan_bounds.h"

#include <catch2/catch.hpp>

namespace warpsmith::executor {
namespace {

v1::ExecutionPlan OneKernel() {
  v1::ExecutionPlan plan;
  plan.add_kernel_symbols("f");
  plan.add_buffers()->set_bytes(1024);
  plan.add_steps()->mutable_kernel()->add_arguments()->mutable_view()->set_offset_bytes(1024);
  return plan;
}

TEST_CASE("a plan stays inside its buffers", "[unit]") {
  CHECK(CheckPlanBounds(OneKernel()).ok());
  v1::ExecutionPlan plan = OneKernel();
  plan.mutable_steps(0)->mutable_kernel()->mutable_arguments(0)->mutable_view()->set_offset_bytes(1025);
  CHECK(Message(CheckPlanBounds(plan)).find("step 0: ") == 0);
  plan = OneKernel();
  plan.mutable_steps(0)->mutable_kernel()->mutable_arguments(0)->mutable_view()->set_buffer(1);
  CHECK(!CheckPlanBounds(plan).ok());
  plan = OneKernel();
  plan.mutable_steps(0)->mutable_kernel()->set_kernel(1);
  CHECK(!CheckPlanBounds(plan).ok());
  plan = OneKernel();
  v1::MemsetStep& memset = *plan.add_steps()->mutable_memset();
  memset.set_width(4);
  memset.set_count(256);
  CHECK(CheckPlanBounds(plan).ok());
  memset.set_count(257);
  CHECK(Message(CheckPlanBounds(plan)).find("step 1: ") == 0);
  memset.set_count(1);
  memset.set_width(3);
  CHECK(!CheckPlanBounds(plan).ok());
}

TEST_CASE("prepare steps, tensor maps and library operands are checked too", "[unit]") {
  v1::ExecutionPlan plan = OneKernel();
  v1::CopyStep& copy = *plan.add_prepare_steps()->mutable_copy();
  copy.set_bytes(1025);
  CHECK(Message(CheckPlanBounds(plan)).find("prepare step 0: ") == 0);
  copy.set_bytes(1024);
  CHECK(CheckPlanBounds(plan).ok());
  v1::BufferView& map = *plan.mutable_steps(0)->mutable_kernel()->add_arguments()->mutable_tensor_map()->mutable_view();
  map.set_buffer(3);
  CHECK(!CheckPlanBounds(plan).ok());
  map.set_buffer(0);
  (*plan.add_steps()->mutable_library()->mutable_operands())["A"].set_buffer(9);
  CHECK(Message(CheckPlanBounds(plan)).find("step 1: A: ") == 0);
  plan = OneKernel();
  plan.add_steps();
  CHECK(!CheckPlanBounds(plan).ok());
}

TEST_CASE("steps have names for people", "[unit]") {
  v1::ExecutionPlan plan = OneKernel();
  plan.add_steps()->mutable_copy();
  plan.add_prepare_steps()->mutable_library()->set_function("gemm");
  CHECK(DescribeStep(plan, 0) == "step 0 (kernel f)");
  CHECK(DescribeStep(plan, 1) == "step 1 (copy)");
  CHECK(DescribeStep(plan, 0, /*prepare=*/true) == "prepare step 0 (library gemm)");
  plan.mutable_steps(0)->mutable_kernel()->set_dynamic_shared_bytes(5);
  CHECK(MaxDynamicSharedBytes(plan) == 5);
}

}  // namespace
}  // namespace warpsmith::executor
