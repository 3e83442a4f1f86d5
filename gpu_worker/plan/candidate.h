// A candidate file, checked and parsed: the way in for everything that handles candidates.
//   ParseCandidate -> TuneVariants -> compile KernelNames(plan) with CompilerOptions(plan, tune) -> Expand.
// Threading: pure functions. Errors: plan errors; PlanErrorReason and PlanErrorOutcome (plan_error.h) tell which.
#ifndef WARPSMITH_GPU_WORKER_PLAN_CANDIDATE_H_
#define WARPSMITH_GPU_WORKER_PLAN_CANDIDATE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "gpu_worker/plan/device_limits.h"
#include "gpu_worker/plan/kernel_interface.h"
#include "gpu_worker/plan/plan.h"
#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/plan_expander.h"
#include "gpu_worker/plan/tune.h"

namespace warpsmith::plan {

struct Candidate {
  std::string code;  // what the compiler gets: the file without its byte order mark
  Plan plan;
  std::vector<std::string> includes;     // headers that it names
  std::optional<std::string> needs_gpu;  // what the emulated device cannot do; nullopt: nothing
};

absl::StatusOr<Candidate> ParseCandidate(std::string_view file);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_CANDIDATE_H_
