// Steps of a plan, from JSON. Threading: pure functions. Errors: plan errors that name the path.
#ifndef WARPSMITH_GPU_WORKER_PLAN_STEP_PARSER_H_
#define WARPSMITH_GPU_WORKER_PLAN_STEP_PARSER_H_

#include <string>
#include <vector>

#include "common/json.h"
#include "gpu_worker/plan/plan.h"

namespace warpsmith::plan {

inline constexpr int kMaxRepeatDepth = 3;

// A list of at least one step. `names` are what expressions may use; `depth` repeats stand around it.
absl::StatusOr<std::vector<Step>> ParseSteps(const Json& value, const std::string& path,
                                             const std::vector<std::string>& names, int depth = 0);

// A library step, whose value has the key "library".
absl::StatusOr<LibraryStep> ParseLibraryStep(const Json& value, const std::string& path,
                                             const std::vector<std::string>& names);

// Whether `name` is a kernel's: an identifier, perhaps qualified, perhaps with template arguments.
bool IsKernelName(std::string_view name);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_STEP_PARSER_H_
