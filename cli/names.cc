#include "cli/names.h"

#include <fmt/format.h>

#include "cli/text.h"

namespace warpsmith::cli {
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
  if (reason == "roofline") return "the best kernel is as fast as the device allows, or nearly so (roofline)";
  if (reason == "ideas_exhausted") return "there are no more ideas";
  if (reason == "cancelled") return "cancelled";
  return Line(reason);
}

}  // namespace warpsmith::cli
