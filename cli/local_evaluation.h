// `warpsmith evaluate`'s evaluator: the worker's own, in this process.
// Threading: one thread. Errors: what this machine lacks, with the remedy; a refused problem is InvalidArgument.
#ifndef WARPSMITH_CLI_LOCAL_EVALUATION_H_
#define WARPSMITH_CLI_LOCAL_EVALUATION_H_

#include <string>

#include "cli/context.h"
#include "cli/evaluate_command.h"

namespace warpsmith::cli {

absl::StatusOr<LocalEvaluation> EvaluateLocally(const EvaluateOptions& options, const std::string& problem_source,
                                                const std::string& kernel_source);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_LOCAL_EVALUATION_H_
