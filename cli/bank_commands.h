// Commands on the kernel bank: list, show, export, import, verify. Each prints its result and returns the exit code.
// Threading: one thread.
#ifndef WARPSMITH_CLI_BANK_COMMANDS_H_
#define WARPSMITH_CLI_BANK_COMMANDS_H_

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/queue_commands.h"

namespace CLI {
class App;
}

namespace warpsmith::cli {

class BankClient;

// Waits for verifications that were queued and reports them: 0 where all were confirmed, 1 where any was not.
int AwaitVerifications(Context& context, BankClient& client, const std::vector<std::string>& search_ids);

void AddBankCommands(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_BANK_COMMANDS_H_
