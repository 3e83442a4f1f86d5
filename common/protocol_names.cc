#include "common/protocol_names.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace warpsmith {
namespace {

// "OUTCOME_WRONG_OUTPUT" without its prefix, in small letters.
std::string Plain(const std::string& name, std::string_view prefix) {
  std::string plain = name.substr(std::min(prefix.size(), name.size()));
  std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) { return std::tolower(c); });
  return plain.empty() ? "unknown" : plain;
}

}  // namespace

std::string OutcomeName(v1::Outcome outcome) { return Plain(v1::Outcome_Name(outcome), "OUTCOME_"); }

std::string PrecisionClassName(v1::PrecisionClass precision_class) {
  return Plain(v1::PrecisionClass_Name(precision_class), "PRECISION_CLASS_");
}

std::string TensorRoleName(v1::TensorRole role) { return Plain(v1::TensorRole_Name(role), "TENSOR_ROLE_"); }

std::string SearchStateName(v1::SearchState state) { return Plain(v1::SearchState_Name(state), "SEARCH_STATE_"); }

}  // namespace warpsmith
