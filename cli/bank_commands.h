// Commands on the kernel bank: list, show, export, import, verify. Each prints its result and returns the exit code.
// Threading: one thread.
#ifndef WARPSMITH_CLI_BANK_COMMANDS_H_
#define WARPSMITH_CLI_BANK_COMMANDS_H_

#include "cli/context.h"
#include "cli/queue_commands.h"

namespace CLI {
class App;
}

namespace warpsmith::cli {

void AddBankCommands(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_BANK_COMMANDS_H_
