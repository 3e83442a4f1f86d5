// What a batch's submission sends: the problems that paths name, with settings of the manifest, the command line and
// each problem (the later ones win), in messages that are small enough.
// Threading: pure but for reading. Errors: InvalidArgument lists every file that cannot be searched, and the remedy.
#ifndef WARPSMITH_CLI_BATCH_SUBMISSION_H_
#define WARPSMITH_CLI_BATCH_SUBMISSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/problem_set.h"
#include "cli/search_commands.h"

namespace warpsmith::cli {

struct BatchOptions {
  std::vector<std::string> paths;
  SearchOptions search;
  std::string name;   // empty: the manifest's, else the first path's
  std::string owner;  // empty: the manifest's, else the user
  std::optional<int> priority, parallel;
  std::optional<double> max_usd, max_gpu_hours;
  std::optional<int64_t> max_tokens;
  bool skip_bad = false;
};

struct BatchSubmission {
  std::string name, owner;
  v1::BatchLimits limits;
  std::vector<NamedProblem> problems;
  std::vector<std::string> skipped;  // with --skip-bad: what was wrong with which file
};

absl::StatusOr<BatchSubmission> ReadSubmission(const BatchOptions& options);

// The sources in their order, in parts that fit into one message each.
std::vector<std::vector<const NamedProblem*>> SplitProblems(const std::vector<NamedProblem>& problems,
                                                            size_t most_bytes = 4u << 20);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_BATCH_SUBMISSION_H_
