// A plan's steps as calls of python/launcher.py's _WarpsmithRun, one a step, repeats as loops.
// Threading: pure functions. Errors: InvalidArgument names the step that cannot be expressed.
#ifndef WARPSMITH_CLI_TRANSFER_PYTHON_STEPS_H_
#define WARPSMITH_CLI_TRANSFER_PYTHON_STEPS_H_

#include <string>
#include <vector>

#include "cli/transfer/kernel_source.h"

namespace warpsmith::transfer {

// A function's body, indented by eight blanks; a return where there are no steps. `path` is how errors name the list.
absl::StatusOr<std::string> PythonSteps(const KernelSource& kernel, const std::vector<plan::Step>& steps,
                                        const std::string& path);

// A literal's value, rounded as its type has it: what a conversion by another language gives the same bits from.
absl::StatusOr<double> RoundedLiteral(const plan::Literal& literal);

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_PYTHON_STEPS_H_
