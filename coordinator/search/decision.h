// The decision log's texts: what a decision was taken on, and what it was.
// Threading: pure. Errors: ActionsFromJson returns InvalidArgument naming the action's place and field.
#ifndef WARPSMITH_COORDINATOR_SEARCH_DECISION_H_
#define WARPSMITH_COORDINATOR_SEARCH_DECISION_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "coordinator/search/snapshot.h"
#include "coordinator/search/strategy.h"

namespace warpsmith::search {

// SHA-256 (hex) over a canonical text of the snapshot: the same for any order of its vectors but bank_seeds.
std::string SnapshotHash(const Snapshot& snapshot);

// [{"action":"propose","parent_id":"","count":9,"round":1}, …]; "island" where there is one.
std::string ActionsToJson(const std::vector<Action>& actions);
absl::StatusOr<std::vector<Action>> ActionsFromJson(std::string_view json);

// One line for people: "propose 9 ideas from the module (round 1)".
std::string Describe(const Action& action);

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_DECISION_H_
