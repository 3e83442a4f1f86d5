// `warpsmith export WHAT --format F -o PATH`: kernels as files of other systems, searches as training data.
// Threading: one thread. Errors: printed; the return value is the exit code (1: some problem could not be written, the
// others were; 3: there was nothing to write).
#ifndef WARPSMITH_CLI_EXPORT_COMMAND_H_
#define WARPSMITH_CLI_EXPORT_COMMAND_H_

#include "cli/context.h"
#include "cli/queue_commands.h"

namespace warpsmith::cli {

void AddExportCommand(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EXPORT_COMMAND_H_
