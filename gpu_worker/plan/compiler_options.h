// The compiler options and architectures that a plan may ask for. Threading: pure functions.
// Errors: plan errors with reason options or min_arch.
#ifndef WARPSMITH_GPU_WORKER_PLAN_COMPILER_OPTIONS_H_
#define WARPSMITH_GPU_WORKER_PLAN_COMPILER_OPTIONS_H_

#include <string>
#include <string_view>

#include "common/status.h"
#include "gpu_worker/plan/plan.h"

namespace warpsmith::plan {

inline constexpr size_t kMaxOptions = 32;

absl::Status CheckOption(std::string_view option);

// NAME of "-DNAME" and "-DNAME=1"; empty for other options.
std::string_view DefinedName(std::string_view option);

// Whether `name` may become a macro: an identifier that does not begin with an underscore.
bool IsMacroName(std::string_view name);

// sm_NN, sm_NNa (from sm_90 on) or sm_NNf (from sm_100 on).
absl::StatusOr<Architecture> ParseArchitecture(std::string_view text);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_COMPILER_OPTIONS_H_
