// What is checked about an execution plan in the child, whatever it runs on.
// Threading: pure functions. Units: bytes. Errors: InvalidArgument names the step.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_PLAN_BOUNDS_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_PLAN_BOUNDS_H_

#include <cstdint>
#include <string>

#include "common/status.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::executor {

// Everything in the plan that reaches into a buffer stays inside it.
absl::Status CheckPlanBounds(const v1::ExecutionPlan& plan);

// The largest dynamic array of any launch.
uint32_t MaxDynamicSharedBytes(const v1::ExecutionPlan& plan);

// "step 3 (kernel f)", for messages; `prepare`: of the plan's prepare steps.
std::string DescribeStep(const v1::ExecutionPlan& plan, int step, bool prepare = false);

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_PLAN_BOUNDS_H_
