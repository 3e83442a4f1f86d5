// Parts of snapshots, and what a strategy does with one, for tests of strategies.
// Threading: pure.
#ifndef WARPSMITH_TESTS_COORDINATOR_SEARCH_SNAPSHOT_MAKERS_H_
#define WARPSMITH_TESTS_COORDINATOR_SEARCH_SNAPSHOT_MAKERS_H_

#include <string>
#include <vector>

#include "coordinator/search/strategy.h"

namespace warpsmith::search {

constexpr int64_t kSecond = 1000000;

CandidateView Correct(const std::string& id, const std::string& idea, int round, double log_ratio,
                      const std::string& parent = "");
IdeaView MakeIdea(const std::string& id, int round, const std::string& parent = "", int requested = 0, int island = 0);
TaskView Proposed(const std::string& parent, int round, int count, TaskState state);
// What the strategy that the snapshot names does in its first decision.
std::vector<Action> Next(const Snapshot& snapshot, const Capacity& capacity = {}, int64_t now_us = 0,
                         uint64_t seed = 1);
// Of the proposals among `actions`.
std::vector<std::string> Parents(const std::vector<Action>& actions);

}  // namespace warpsmith::search

#endif  // WARPSMITH_TESTS_COORDINATOR_SEARCH_SNAPSHOT_MAKERS_H_
