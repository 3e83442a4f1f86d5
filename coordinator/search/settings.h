// A search's settings with every preset and default filled in.
// Threading: pure. Errors: InvalidArgument names the field, its value and what is allowed.
#ifndef WARPSMITH_COORDINATOR_SEARCH_SETTINGS_H_
#define WARPSMITH_COORDINATOR_SEARCH_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/search.pb.h"

namespace warpsmith::search {

struct SearchValues {
  std::string strategy = "branching";
  int rounds = 5;
  int parents = 3;          // B
  int ideas = 3;            // I, a parent
  int implementations = 3;  // K, an idea
  int repairs = 2;          // F, a failed candidate
  double max_usd = 0;       // 0: no limit
  int64_t max_tokens = 0;
  double max_gpu_hours = 0;
  int stop_after_rounds_without_gain = 0;  // 0: never
  double round_deadline_seconds = 1800;
  double round_close_share = 0.9;
  std::string model_choice = "bandit";   // or fixed_split
  int confirm = 3;                       // best candidates measured again before the search ends; 0: none
  int islands = 3;                       // strategy evolve
  int migration_rounds = 2;              // strategy evolve; 0: never
  double stop_at_roofline_share = 0.95;  // 0: never
};

// In the order in which they are told to people.
const std::vector<std::string>& StrategyNames();

// Model calls that a round has before repairs, with every strategy, so that they can be compared at equal cost: as many
// as one of branching, where each of B parents gets a call for ideas and each of I ideas K calls for code.
int64_t CallsARound(const SearchValues& values);

absl::StatusOr<SearchValues> ResolveSettings(const v1::SearchSettings& settings);

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_SETTINGS_H_
