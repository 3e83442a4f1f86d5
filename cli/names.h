// What the command says about the protocol's values beyond their names.
// Threading: pure.
#ifndef WARPSMITH_CLI_NAMES_H_
#define WARPSMITH_CLI_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/protocol_names.h"
#include "common/status.h"
#include "warpsmith/v1/problem.pb.h"
#include "warpsmith/v1/search.pb.h"

namespace warpsmith::cli {

bool Ended(v1::SearchState state);

// InvalidArgument lists the names there are. "fp16" is TF32's class.
absl::StatusOr<v1::PrecisionClass> ParsePrecision(std::string_view name);

// Why a finished search ended, as a clause: "all rounds ran".
std::string FinishText(const v1::Search& search);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_NAMES_H_
