// `warpsmith evaluate`'s evaluator: the worker's own, in this process.
// Threading: as EvaluationSession. Errors: what this machine lacks, with the remedy; a refused problem is
// InvalidArgument.
#ifndef WARPSMITH_CLI_LOCAL_EVALUATION_H_
#define WARPSMITH_CLI_LOCAL_EVALUATION_H_

#include <memory>

#include "cli/context.h"
#include "cli/evaluate_command.h"
#include "cli/evaluation_session.h"

namespace warpsmith::cli {

absl::StatusOr<std::unique_ptr<EvaluationSession>> OpenLocalSession(const EvaluateOptions& options);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_LOCAL_EVALUATION_H_
