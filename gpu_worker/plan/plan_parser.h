// Strict, typed reading of a plan's JSON: every unknown field and wrong type is an error that names the field's path.
// Threading: pure functions. Errors: plan errors (plan_error.h).
#ifndef WARPSMITH_GPU_WORKER_PLAN_PLAN_PARSER_H_
#define WARPSMITH_GPU_WORKER_PLAN_PLAN_PARSER_H_

#include <string_view>

#include "common/status.h"
#include "gpu_worker/plan/plan.h"

namespace warpsmith::plan {

// `text` is one JSON value. `first_line` is its line in the file, for messages about its syntax.
absl::StatusOr<Plan> ParsePlan(std::string_view text, int first_line = 1);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_PLAN_PARSER_H_
