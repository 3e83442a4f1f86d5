#include "cli/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/text.h"

namespace warpsmith::cli {
namespace {

// "OUTCOME_WRONG_OUTPUT" without its prefix, in small letters.
std::string Plain(const std::string& name, std::string_view prefix) {
  std::string plain = name.substr(name.rfind(prefix, 0) == 0 ? prefix.size() : 0);
  std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) { return std::tolower(c); });
  return plain.empty() ? "unknown" : plain;
}

}  // namespace

std::string OutcomeName(v1::Outcome outcome) { return Plain(v1::Outcome_Name(outcome), "OUTCOME_"); }

std::string StateName(v1::SearchState state) { return Plain(v1::SearchState_Name(state), "SEARCH_STATE_"); }

std::string PrecisionName(v1::PrecisionClass precision) {
  return Plain(v1::PrecisionClass_Name(precision), "PRECISION_CLASS_");
}

bool Ended(v1::SearchState state) {
  return state == v1::SEARCH_STATE_DONE || state == v1::SEARCH_STATE_CANCELLED || state == v1::SEARCH_STATE_FAILED;
}

absl::StatusOr<v1::PrecisionClass> ParsePrecision(std::string_view name) {
  if (name == "fp32") return v1::PRECISION_CLASS_FP32;
  if (name == "tf32" || name == "fp16") return v1::PRECISION_CLASS_TF32;
  if (name == "bf16") return v1::PRECISION_CLASS_BF16;
  return InvalidArgument(
      fmt::format("--accept: there is no precision \"{}\"; give fp32, tf32, fp16 or bf16, separated "
                  "by commas",
                  name));
}

std::string FinishText(const v1::Search& search) {
  const std::string& reason = search.finish_reason();
  if (reason == "rounds") return "all rounds ran";
  if (reason == "no_gain") return "no gain in the last rounds";
  if (reason == "budget") return "the budget is spent";
  if (reason == "ideas_exhausted") return "there are no more ideas";
  if (reason == "cancelled") return "cancelled";
  return Line(reason);
}

}  // namespace warpsmith::cli
