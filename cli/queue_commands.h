// Commands that keep a cluster healthy: `queue status`, `queue quarantine list` and `retry`, `worker drain` and
// `undrain`. Threading: one thread.
#ifndef WARPSMITH_CLI_QUEUE_COMMANDS_H_
#define WARPSMITH_CLI_QUEUE_COMMANDS_H_

#include <functional>
#include <string>

#include "cli/context.h"

namespace CLI {
class App;
}

namespace warpsmith::cli {

// Makes a command that talks to the coordinator: parent, name, what it does, an example.
using MakeClientCommand = std::function<CLI::App*(CLI::App* parent, const std::string& name,
                                                  const std::string& description, const std::string& example)>;
// What the command does when it is given.
using SetCommandAction = std::function<void(CLI::App* command, std::function<int()> action)>;

void AddQueueCommands(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_QUEUE_COMMANDS_H_
