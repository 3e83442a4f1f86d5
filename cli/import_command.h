// `warpsmith import PATH`: kernels into the bank, each verified before it is admitted: an archive, a folder that an
// export wrote, or a .cu file in our own format. Candidates in Python are judged and timed on this machine instead:
// import_python.h. Threading: one thread. Errors: printed; the return value is the exit code.
#ifndef WARPSMITH_CLI_IMPORT_COMMAND_H_
#define WARPSMITH_CLI_IMPORT_COMMAND_H_

#include "cli/context.h"
#include "cli/queue_commands.h"

namespace warpsmith::cli {

void AddImportCommand(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_IMPORT_COMMAND_H_
