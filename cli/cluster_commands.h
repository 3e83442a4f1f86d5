// Commands that start and stop a cluster on this machine: run, up, down. Each returns the exit code.
// Threading: the main thread only (children are tied to the thread that starts them).
#ifndef WARPSMITH_CLI_CLUSTER_COMMANDS_H_
#define WARPSMITH_CLI_CLUSTER_COMMANDS_H_

#include <string>

#include "cli/context.h"
#include "cli/search_commands.h"

namespace warpsmith::cli {

struct LocalOptions {
  std::string device;  // emulated, cuda; empty: what is there
  int workers = 0;
  std::string gateway_config;
};

struct RunOptions {
  std::string file;
  SearchOptions search;
  LocalOptions local;
  bool keep_running = false;
  std::string output;  // where the winner goes; empty: the data directory's kernels/
};

int RunRun(Context& context, const RunOptions& options);
int RunUp(Context& context, const LocalOptions& options);
int RunDown(Context& context);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_CLUSTER_COMMANDS_H_
