#include "coordinator/search/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpsmith::search {
namespace {

constexpr int kMaxRounds = 1000;
constexpr int kMaxBranch = 64;  // of each of B, I and K
constexpr int kMaxIslands = 64;
constexpr int kMostIslandsByDefault = 8;

absl::Status CheckRange(const char* field, int value, int low, int high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return InvalidArgument(fmt::format("settings.{} is {}; give a number from {} to {}", field, value, low, high));
}

absl::Status CheckLimit(const char* field, double value) {
  if (std::isfinite(value) && value >= 0) return absl::OkStatus();
  return InvalidArgument(fmt::format("settings.{} is {}; give 0 (no limit) or a positive number", field, value));
}

absl::Status CheckWeight(const std::string& name, double weight) {
  if (!name.empty() && std::isfinite(weight) && weight >= 0 && weight <= 1e6) return absl::OkStatus();
  return InvalidArgument(
      fmt::format("settings.model_split[\"{}\"] is {}; give a model's name a weight from 0 to 1000000", name, weight));
}

}  // namespace

const std::vector<std::string>& StrategyNames() {
  static const std::vector<std::string> names = {"branching", "sequential", "best_of_n", "evolve"};
  return names;
}

int64_t CallsARound(const SearchValues& values) {
  return int64_t{values.parents} * (1 + int64_t{values.ideas} * values.implementations);
}

absl::StatusOr<SearchValues> ResolveSettings(const v1::SearchSettings& settings) {
  SearchValues values;
  if (!settings.strategy().empty()) values.strategy = settings.strategy();
  const std::vector<std::string>& names = StrategyNames();
  if (std::find(names.begin(), names.end(), values.strategy) == names.end()) {
    return InvalidArgument(
        fmt::format("settings.strategy is \"{}\"; there are {}", values.strategy, fmt::join(names, ", ")));
  }
  int branch = 3;
  if (settings.preset() == "quick") {
    branch = 2;
  } else if (settings.preset() == "deep") {
    branch = 4;
  } else if (!settings.preset().empty() && settings.preset() != "standard") {
    return InvalidArgument(
        fmt::format("settings.preset is \"{}\"; there are quick, standard and deep", settings.preset()));
  }
  auto either = [](int given, int otherwise) { return given != 0 ? given : otherwise; };
  values.rounds = either(settings.rounds(), 5);
  values.parents = either(settings.parents(), branch);
  values.ideas = either(settings.ideas(), branch);
  values.implementations = either(settings.implementations(), branch);
  values.repairs = settings.repairs() == -1 ? 0 : either(settings.repairs(), 2);
  values.max_usd = settings.max_usd();
  values.max_tokens = settings.max_tokens();
  values.max_gpu_hours = settings.max_gpu_hours();
  values.stop_after_rounds_without_gain = settings.stop_after_rounds_without_gain();
  values.islands = either(settings.islands(), std::clamp(values.parents, 2, kMostIslandsByDefault));
  values.migration_rounds = settings.migration_rounds() == -1 ? 0 : either(settings.migration_rounds(), 2);
  if (settings.has_stop_at_roofline_share()) values.stop_at_roofline_share = settings.stop_at_roofline_share();
  if (settings.round_deadline_seconds() != 0) values.round_deadline_seconds = settings.round_deadline_seconds();
  if (settings.round_close_share() != 0) values.round_close_share = settings.round_close_share();

  WARPSMITH_RETURN_IF_ERROR(CheckRange("rounds", values.rounds, 1, kMaxRounds));
  WARPSMITH_RETURN_IF_ERROR(CheckRange("parents", values.parents, 1, kMaxBranch));
  WARPSMITH_RETURN_IF_ERROR(CheckRange("ideas", values.ideas, 1, kMaxBranch));
  WARPSMITH_RETURN_IF_ERROR(CheckRange("implementations", values.implementations, 1, kMaxBranch));
  WARPSMITH_RETURN_IF_ERROR(CheckRange("repairs", values.repairs, 0, 10));
  WARPSMITH_RETURN_IF_ERROR(
      CheckRange("stop_after_rounds_without_gain", values.stop_after_rounds_without_gain, 0, kMaxRounds));
  WARPSMITH_RETURN_IF_ERROR(CheckRange("islands", values.islands, 1, kMaxIslands));
  WARPSMITH_RETURN_IF_ERROR(CheckRange("migration_rounds", values.migration_rounds, 0, kMaxRounds));
  WARPSMITH_RETURN_IF_ERROR(CheckLimit("max_usd", values.max_usd));
  WARPSMITH_RETURN_IF_ERROR(CheckLimit("max_tokens", static_cast<double>(values.max_tokens)));
  WARPSMITH_RETURN_IF_ERROR(CheckLimit("max_gpu_hours", values.max_gpu_hours));
  if (!std::isfinite(values.round_deadline_seconds) || values.round_deadline_seconds < 1 ||
      values.round_deadline_seconds > 7 * 86400) {
    return InvalidArgument(
        fmt::format("settings.round_deadline_seconds is {}; give 1 to 604800 (a week)", values.round_deadline_seconds));
  }
  if (!(values.round_close_share > 0 && values.round_close_share <= 1)) {
    return InvalidArgument(
        fmt::format("settings.round_close_share is {}; give a number above 0, to 1", values.round_close_share));
  }
  if (!(values.stop_at_roofline_share >= 0 && values.stop_at_roofline_share <= 1)) {
    return InvalidArgument(
        fmt::format("settings.stop_at_roofline_share is {}; give a share of the roofline up to 1, or 0 for never",
                    values.stop_at_roofline_share));
  }
  if (!settings.baselines().empty() && settings.baselines() != "all" && settings.baselines() != "eager") {
    return InvalidArgument(fmt::format("settings.baselines is \"{}\"; there are all and eager", settings.baselines()));
  }
  if (!settings.model_choice().empty()) values.model_choice = settings.model_choice();
  if (values.model_choice != "bandit" && values.model_choice != "fixed_split") {
    return InvalidArgument(
        fmt::format("settings.model_choice is \"{}\"; there are bandit and fixed_split", values.model_choice));
  }
  if (values.model_choice == "bandit" && !settings.model_split().empty()) {
    return InvalidArgument("settings.model_split is for settings.model_choice fixed_split; set that, or leave it out");
  }
  double weights = 0;
  for (const auto& [name, weight] : settings.model_split()) {
    WARPSMITH_RETURN_IF_ERROR(CheckWeight(name, weight));
    weights += weight;
  }
  if (!settings.model_split().empty() && weights <= 0) {
    return InvalidArgument("settings.model_split has no weight above 0; give at least one model a positive weight");
  }
  return values;
}

}  // namespace warpsmith::search
