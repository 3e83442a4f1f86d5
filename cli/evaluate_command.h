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
  std::string problem_name;                  // filled from problem_file
  std::vector<v1::PrecisionClass> accepted;  // empty: fp32 only
  v1::IntakeSettings intake;
  bool frozen_weights = false;
  int64_t seed = 0;
};

int RunEvaluate(Context& context, EvaluateOptions options);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EVALUATE_COMMAND_H_
