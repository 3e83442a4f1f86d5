// `warpsmith simulate`: recorded searches replayed under other strategies and settings, at no cost.
// Threading: the main thread. Errors: printed; the return value is the exit code.
#ifndef WARPSMITH_CLI_SIMULATE_COMMAND_H_
#define WARPSMITH_CLI_SIMULATE_COMMAND_H_

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/search_commands.h"
#include "coordinator/replay/comparison.h"

namespace CLI {
class App;
}

namespace warpsmith::cli {

struct SimulateOptions {
  std::vector<std::string> searches;    // ids or prefixes
  std::vector<std::string> recordings;  // files that --save wrote
  std::string save;                     // folder for recordings
  std::vector<std::string> strategies;
  std::vector<std::string> variants;  // NAME:FIELD=VALUE,…
  SearchOptions settings;             // laid over every policy
  int repeats = 200;
  int64_t seed = 0;
  int gpus = 1;
  int model_calls = 8;
};

void AddSimulateOptions(CLI::App* command, SimulateOptions* options);
int RunSimulate(Context& context, const SimulateOptions& options);

// "deep:parents=4,ideas=4": a name, and fields of SearchSettings. InvalidArgument names the field and what there is.
absl::StatusOr<replay::Policy> ParseVariant(const std::string& text);

// A page for people.
std::string PrintComparison(const replay::Comparison& comparison);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_SIMULATE_COMMAND_H_
