// A verdict for people: outcome, why, where outputs differ, time and ratios, checks.
// Threading: pure. Errors: none; missing parts are left out.
#ifndef WARPSMITH_CLI_PRINT_EVALUATION_H_
#define WARPSMITH_CLI_PRINT_EVALUATION_H_

#include <string>

#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::cli {

std::string EvaluationText(const v1::Evaluation& evaluation);

// The kernel's speed against each baseline of the same kind of device; empty without a time or without baselines.
std::string RatiosText(const v1::Problem& problem, const v1::Evaluation& evaluation);

// A few lines on the problem: tensors, operators, what was found at intake, baselines.
std::string ProblemText(const v1::Problem& problem);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PRINT_EVALUATION_H_
