// The command line: what there is, its help, and which command was meant.
// Threading: the main thread. Errors: printed; the return value is the exit code of exit_code.h.
#ifndef WARPSMITH_CLI_COMMAND_LINE_H_
#define WARPSMITH_CLI_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "cli/context.h"

namespace warpsmith::cli {

// `arguments` without the program's name.
int RunCommandLine(const std::vector<std::string>& arguments, Context context);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_COMMAND_LINE_H_
