// Tuning values of a plan: which combinations to try, and the -D options that they become.
// Threading: pure functions.
#ifndef WARPSMITH_GPU_WORKER_PLAN_TUNE_H_
#define WARPSMITH_GPU_WORKER_PLAN_TUNE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu_worker/plan/plan.h"

namespace warpsmith::plan {

// A value for each tune name of a plan; empty where the plan has none.
using TuneAssignment = std::map<std::string, int64_t>;

// At most `max` (at least one) assignments, all different. The first takes every name's first value; then come those
// that differ from it in one name, in two, and so on, so that a low bound still tries each value.
std::vector<TuneAssignment> TuneVariants(const Plan& plan, size_t max);

// The plan's options and -DNAME=value for each name of the assignment.
std::vector<std::string> CompilerOptions(const Plan& plan, const TuneAssignment& tune);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_TUNE_H_
