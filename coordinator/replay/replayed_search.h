// One search under some strategy and settings, replayed on a recorded tree in virtual time: calls to models and GPUs
// take as long as recorded, so many of each at once, and nothing is spent.
// What is as in a real search: the strategy, its snapshots, deadlines, budgets and confirmations. What is not:
// duplicate and reused code (each drawn kernel is measured), operators' injections, the bank. Threading: one run, one
// thread. Units: as in recorded_tree.h; seconds of virtual time.
#ifndef WARPSMITH_COORDINATOR_REPLAY_REPLAYED_SEARCH_H_
#define WARPSMITH_COORDINATOR_REPLAY_REPLAYED_SEARCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "coordinator/replay/recorded_tree.h"

namespace warpsmith::replay {

struct Machines {
  int gpus = 1;
  int model_calls = 8;  // at once
};

// The best so far and what had been spent, at each gain and at the end.
struct Progress {
  double tokens = 0;
  double usd = 0;
  double gpu_seconds = 0;
  double seconds = 0;
  double best_log_ratio = 0;  // the worst recorded correct one's where none was found yet
};

struct ReplayedRun {
  std::vector<Progress> progress;
  std::string finish_reason;
  bool found = false;  // a correct kernel
  int ideas = 0, surrogate_ideas = 0;
  int attempts = 0, surrogate_attempts = 0;
};

// InvalidArgument: the settings. Internal: the search did not end.
absl::StatusOr<ReplayedRun> ReplaySearch(const RecordedTree& tree, const v1::SearchSettings& settings,
                                         const Machines& machines, uint64_t seed);

}  // namespace warpsmith::replay

#endif  // WARPSMITH_COORDINATOR_REPLAY_REPLAYED_SEARCH_H_
