// The protocol's enumerations as people, logs and JSON write them: "wrong_output", "fp32", "done".
// Threading: pure. A value that this build does not know is "unknown".
#ifndef WARPSMITH_COMMON_PROTOCOL_NAMES_H_
#define WARPSMITH_COMMON_PROTOCOL_NAMES_H_

#include <string>

#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"
#include "warpsmith/v1/search.pb.h"

namespace warpsmith {

std::string OutcomeName(v1::Outcome outcome);
std::string PrecisionClassName(v1::PrecisionClass precision_class);
std::string TensorRoleName(v1::TensorRole role);
std::string SearchStateName(v1::SearchState state);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_PROTOCOL_NAMES_H_
