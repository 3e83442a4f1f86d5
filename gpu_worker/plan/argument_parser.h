// A kernel's arguments and views, from JSON. Threading: pure functions. Errors: plan errors that name the path.
#ifndef WARPSMITH_GPU_WORKER_PLAN_ARGUMENT_PARSER_H_
#define WARPSMITH_GPU_WORKER_PLAN_ARGUMENT_PARSER_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "gpu_worker/plan/plan.h"

namespace warpsmith::plan {

// A tensor's name, {"tensor", "offset"}, a literal or {"tensor_map": {...}}. Expressions are over `names`.
absl::StatusOr<Argument> ParseArgument(const Json& value, const std::string& path,
                                       const std::vector<std::string>& names);

// A tensor's name or {"tensor", "offset"}.
absl::StatusOr<View> ParseView(const Json& value, const std::string& path, const std::vector<std::string>& names);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_ARGUMENT_PARSER_H_
