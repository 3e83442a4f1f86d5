// Several ways to search, replayed many times on recorded trees, side by side: how far each gets for what it spends.
// Every way gets the same trees and seeds, so that differences between two of them are paired. Intervals are 95 %, by
// bootstrap over the trees (where there are several) and the runs within each. With one tree they say how sure the
// replay is of itself, not how another search would go.
// Threading: pure. Units: as in recorded_tree.h.
#ifndef WARPSMITH_COORDINATOR_REPLAY_COMPARISON_H_
#define WARPSMITH_COORDINATOR_REPLAY_COMPARISON_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coordinator/replay/replayed_search.h"

namespace warpsmith::replay {

// A way to search: settings that are laid over the recorded search's own.
struct Policy {
  std::string name;
  v1::SearchSettings settings;
};

struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

struct PolicyResult {
  std::string name;
  Interval best;                          // log ratio at the end
  Interval against_first;                 // log of the factor over the first policy at the end; 0 for the first itself
  std::vector<Interval> at_budget;        // best log ratio at Comparison::budgets
  std::vector<Interval> first_at_budget;  // the same as a difference to the first policy
  Interval tokens, usd, gpu_seconds, seconds;
  double surrogate_ideas = 0;  // share of all
  double surrogate_attempts = 0;
  double found = 0;  // share of runs with a correct kernel
  std::map<std::string, int> finish_reasons;
};

struct Comparison {
  std::string budget_unit;      // tokens, or gpu_seconds where no tokens were recorded
  std::vector<double> budgets;  // of one search; the last is what the thriftiest policy spends on average
  std::vector<PolicyResult> policies;
  int trees = 0;
  int repeats = 0;
};

struct ComparisonOptions {
  int repeats = 200;
  uint64_t seed = 0;
  Machines machines;
  std::function<absl::Status(int done, int total)> poll;  // after each run; an error ends it
};

absl::StatusOr<Comparison> Compare(const std::vector<RecordedTree>& trees, const std::vector<Policy>& policies,
                                   const ComparisonOptions& options);

// The mean of values[tree][run], each tree alike, with its interval.
Interval Bootstrap(const std::vector<std::vector<double>>& values, uint64_t seed);

}  // namespace warpsmith::replay

#endif  // WARPSMITH_COORDINATOR_REPLAY_COMPARISON_H_
