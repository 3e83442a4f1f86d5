// Parts of snapshots, for tests of strategies.
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
// Of the proposals among `actions`.
std::vector<std::string> Parents(const std::vector<Action>& actions);

}  // namespace warpsmith::search

#endif  // WARPSMITH_TESTS_COORDINATOR_SEARCH_SNAPSHOT_MAKERS_H_
