// `warpsmith evaluate --batch`: many kernels on this machine, without services. Several are parsed and compiled at once
// while one has the device. With --json each verdict is one line on standard output as it comes, {"file", "evaluation"}
// or {"file", "error"}, and the summary is one line on standard error.
// Threading: called from one thread, starts others and ends them. Errors: printed; the return value is the exit code:
// 1 where the machine failed a kernel or one ended otherwise than its manifest expects.
#ifndef WARPSMITH_CLI_BATCH_EVALUATION_H_
#define WARPSMITH_CLI_BATCH_EVALUATION_H_

#include "cli/context.h"
#include "cli/evaluate_command.h"

namespace warpsmith::cli {

int RunBatch(Context& context, EvaluateOptions options);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_BATCH_EVALUATION_H_
