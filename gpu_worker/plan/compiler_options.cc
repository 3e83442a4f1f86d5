#include "gpu_worker/plan/compiler_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/source_encoding.h"

namespace warpsmith::plan {
namespace {

constexpr std::array<std::string_view, 13> kPlainOptions = {
    "--use_fast_math",  "--extra-device-vectorization",
    "--fmad=true",      "--fmad=false",
    "--ftz=true",       "--ftz=false",
    "--prec-div=true",  "--prec-div=false",
    "--prec-sqrt=true", "--prec-sqrt=false",
    "--std=c++14",      "--std=c++17",
    "--std=c++20",
};
constexpr std::string_view kRegisters = "--maxrregcount=";

// A decimal integer, all of `text`, without a plus sign or leading zeros.
std::optional<int64_t> Decimal(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (fmt::format("{}", value) != text) return std::nullopt;
  return value;
}

}  // namespace

bool IsMacroName(std::string_view name) { return IsIdentifier(name) && name[0] != '_'; }

std::string_view DefinedName(std::string_view option) {
  if (!option.starts_with("-D")) return {};
  option.remove_prefix(2);
  return option.substr(0, option.find('='));
}

absl::Status CheckOption(std::string_view option) {
  if (std::find(kPlainOptions.begin(), kPlainOptions.end(), option) != kPlainOptions.end()) return absl::OkStatus();
  if (option.starts_with(kRegisters)) {
    std::optional<int64_t> registers = Decimal(option.substr(kRegisters.size()));
    if (registers.has_value() && *registers >= 16 && *registers <= 255) return absl::OkStatus();
    return PlanError(reason::kOptions, fmt::format("\"{}\": --maxrregcount takes 16 to 255", Printable(option)));
  }
  if (option.starts_with("-D")) {
    size_t equals = option.find('=');
    bool value = equals == std::string_view::npos || Decimal(option.substr(equals + 1)).has_value();
    if (value && IsMacroName(DefinedName(option))) return absl::OkStatus();
    return PlanError(reason::kOptions,
                     fmt::format("\"{}\": -D takes NAME or NAME=integer, and NAME does not begin with "
                                 "an underscore",
                                 Printable(option)));
  }
  return PlanError(reason::kOptions,
                   fmt::format("\"{}\" is not allowed; allowed are {}, --maxrregcount=16..255 and -DNAME[=integer]",
                               Printable(option), fmt::join(kPlainOptions, ", ")));
}

absl::StatusOr<Architecture> ParseArchitecture(std::string_view text) {
  Architecture result;
  std::string_view digits = text.starts_with("sm_") ? text.substr(3) : std::string_view();
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) {
    result.suffix = digits.back();
    digits.remove_suffix(1);
  }
  std::optional<int64_t> number = Decimal(digits);
  if (!number.has_value() || *number < 10 || *number > 999) {
    return PlanError(reason::kMinArch,
                     fmt::format("\"{}\" is no architecture; write sm_80, sm_90a or sm_100f", Printable(text)));
  }
  result.number = static_cast<int>(*number);
  if ((result.suffix == 'a' && result.number < 90) || (result.suffix == 'f' && result.number < 100)) {
    return PlanError(reason::kMinArch, fmt::format("\"{}\": the suffix a begins with sm_90 and f with sm_100", text));
  }
  return result;
}

}  // namespace warpsmith::plan
