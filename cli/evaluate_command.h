// `warpsmith evaluate PROBLEM.py KERNEL.cu`: one candidate on this machine, without services.
// Threading: one thread. Errors: printed; the return value is the exit code (3: the kernel is not valid).
#ifndef WARPSMITH_CLI_EVALUATE_COMMAND_H_
#define WARPSMITH_CLI_EVALUATE_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::cli {

struct EvaluateOptions {
  std::string problem_file;
  std::string kernel_file;
  std::vector<v1::PrecisionClass> accepted;  // empty: fp32 only
  v1::IntakeSettings intake;
  bool frozen_weights = false;
  int64_t seed = 0;
  bool seed_given = false;
  std::string device = "auto";  // auto, emulated, N, cuda:N
  bool confirm = false;
  std::string incumbent_file;  // empty: none
  std::string incumbent;       // its text, filled from incumbent_file
  bool profile = false;
  bool baselines = false;  // timed every way, not only those that are known already
  double run_limit_seconds = 20;

  std::string batch;          // a folder or a manifest; empty: one kernel
  std::string batch_problem;  // file or folder
  int jobs = 0;               // 0: by cores
  int repeat = 1;
};

// Fills `incumbent` from `incumbent_file`, where one is named; it asks for a confirmation.
absl::Status ReadIncumbent(EvaluateOptions& options);
// What a build without the evaluator answers.
absl::Status BuiltWithoutEvaluator();

int RunEvaluate(Context& context, EvaluateOptions options);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EVALUATE_COMMAND_H_
