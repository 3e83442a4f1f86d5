// `warpsmith token new`: makes a token and keeps it nowhere but where it is told to.
// Threading: the main thread. Errors: printed; the return value is the exit code of exit_code.h.
#ifndef WARPSMITH_CLI_TOKEN_COMMAND_H_
#define WARPSMITH_CLI_TOKEN_COMMAND_H_

#include <string>

#include "cli/context.h"

namespace CLI {
class App;
}

namespace warpsmith::cli {

struct TokenOptions {
  std::string role;
  std::string name;
  std::string output;  // a new file that only its owner can read; empty: printed
  std::string tokens;  // a server's tokens file to which the line is added; empty: printed
};

void AddTokenOptions(CLI::App* command, TokenOptions* options);
int RunTokenNew(Context& context, const TokenOptions& options);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_TOKEN_COMMAND_H_
