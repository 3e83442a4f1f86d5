// `batch submit`, `list`, `show`, `watch`, `pause`, `resume`, `cancel`, `retry`, `add` and `set`.
// Threading: one thread.
#ifndef WARPSMITH_CLI_BATCH_COMMANDS_H_
#define WARPSMITH_CLI_BATCH_COMMANDS_H_

#include "cli/queue_commands.h"

namespace warpsmith::cli {

void AddBatchCommands(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_BATCH_COMMANDS_H_
