// A plan's steps, gathered by what they launch: a plan of thousands of launches mostly has a handful of kinds.
// Threading: pure.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_STEP_KINDS_H_
#define WARPSMITH_GPU_WORKER_PROFILE_STEP_KINDS_H_

#include <string>
#include <vector>

#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::profile {

struct StepKind {
  std::string name;  // the kernel's symbol, "memset", "copy", or the library's function
  std::vector<int> steps;
  double time_ms = 0;  // of all of them, where it has been taken
};

// In the order of their first steps.
std::vector<StepKind> GroupSteps(const v1::ExecutionPlan& plan);

// The `most` kinds that take the most time, most first. Kinds without a time keep their order, last.
std::vector<StepKind> TopKinds(std::vector<StepKind> kinds, size_t most);

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_STEP_KINDS_H_
