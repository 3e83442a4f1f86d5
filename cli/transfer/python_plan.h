// A launch plan as Python: its tensors as tables and its steps as calls, which python/launcher.py runs.
// Threading: pure functions. Errors: InvalidArgument names the step that cannot be expressed.
#ifndef WARPSMITH_CLI_TRANSFER_PYTHON_PLAN_H_
#define WARPSMITH_CLI_TRANSFER_PYTHON_PLAN_H_

#include <string>

#include "cli/transfer/kernel_source.h"

namespace warpsmith::transfer {

// The class _WarpsmithPlan.
absl::StatusOr<std::string> PythonPlan(const KernelSource& kernel);

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_PYTHON_PLAN_H_
