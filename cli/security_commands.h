// `audit` and `token new`, and the flags of a secured connection. Threading: one thread.
#ifndef WARPSMITH_CLI_SECURITY_COMMANDS_H_
#define WARPSMITH_CLI_SECURITY_COMMANDS_H_

#include "cli/queue_commands.h"

namespace warpsmith::cli {

void AddSecurityCommands(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does);

// Every command that connects, by its --coordinator or --gateway, takes the files of a secured connection. Called once
// all commands are there.
void AddConnectionSecurity(CLI::App* app, Context& context);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_SECURITY_COMMANDS_H_
