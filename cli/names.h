// Enumerations as people and JSON's readers write them: "wrong_output", "done", "fp32".
// Threading: pure.
#ifndef WARPSMITH_CLI_NAMES_H_
#define WARPSMITH_CLI_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"
#include "warpsmith/v1/search.pb.h"

namespace warpsmith::cli {

std::string OutcomeName(v1::Outcome outcome);
std::string StateName(v1::SearchState state);
std::string PrecisionName(v1::PrecisionClass precision);
bool Ended(v1::SearchState state);

// InvalidArgument lists the names there are. "fp16" is TF32's class.
absl::StatusOr<v1::PrecisionClass> ParsePrecision(std::string_view name);

// Why a finished search ended, as a clause: "all rounds ran".
std::string FinishText(const v1::Search& search);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_NAMES_H_
