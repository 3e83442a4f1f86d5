// Files that operators hand in. Threading: pure but for reading. Errors: name the file and the remedy.
#ifndef WARPSMITH_CLI_PROBLEM_FILE_H_
#define WARPSMITH_CLI_PROBLEM_FILE_H_

#include <string>

#include "common/status.h"

namespace warpsmith::cli {

struct ProblemFile {
  std::string name;  // base name without .py
  std::string source;
};

// A PyTorch module in KernelBench's format, at most 1 MiB. What is in it is looked at by intake.
absl::StatusOr<ProblemFile> ReadProblemFile(const std::string& path);

// A candidate .cu, at most 1 MiB.
absl::StatusOr<std::string> ReadKernelFile(const std::string& path);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PROBLEM_FILE_H_
