// What the plan tests share: a candidate around a plan, a problem, compiled kernels, and a check of rejections.
// Threading: pure functions.
#ifndef WARPSMITH_TESTS_GPU_WORKER_PLAN_PLAN_FIXTURE_H_
#define WARPSMITH_TESTS_GPU_WORKER_PLAN_PLAN_FIXTURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "gpu_worker/plan/device_limits.h"
#include "gpu_worker/plan/kernel_interface.h"
#include "gpu_worker/plan/plan_expander.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::plan {

struct Rejection {
  std::string_view text;     // what is refused
  std::string_view reason;   // PlanErrorReason
  std::string_view message;  // stands in the message: the path, first of all
};

// Fails the test unless `status` is a plan error with this reason and message.
void CheckRejected(const absl::Status& status, const Rejection& rejection);

// {"version": 1, "steps": [steps] extra}; `extra` begins with a comma where it is not empty.
std::string PlanOf(std::string_view steps, std::string_view extra = "");

// Steps of plans: a kernel without arguments; one that writes both outputs; that one, and `kernel` with `args`.
inline constexpr char kKernel[] = R"({"kernel": "f", "grid": [1], "block": [1], "args": []})";
inline constexpr char kBoth[] =
    R"({"kernel": "both", "grid": [64], "block": [256], "args": ["x", "output0", "output1"]})";
std::string Launch(std::string_view kernel, std::string_view args);

// Inputs x [64, 1024] float32, h [64, 1024] float16, t [32, 16] float32 with strides [1, 32], gap [4, 4] with strides
// [8, 1], none [0, 4]; parameters w [1024] and tied (an alias of w); buffer running [8], which forward changes;
// outputs output0 [64, 1024] float32 and output1 [64] int64.
v1::ProblemSignature Problem();

// The limits of compute capability 9.0.
const DeviceLimits& TestDevice();

// f(float*, float*, long long*), g(const float*, int, float), h(half), m(tensor map), s(scratch) ...: see the source.
std::vector<KernelInterface> Kernels();

absl::StatusOr<v1::ExecutionPlan> ExpandText(std::string_view json, const DeviceLimits& limits,
                                             const ExpandOptions& options = {});

}  // namespace warpsmith::plan

#endif  // WARPSMITH_TESTS_GPU_WORKER_PLAN_PLAN_FIXTURE_H_
