#include "tests/coordinator/search/snapshot_makers.h"

namespace warpsmith::search {

CandidateView Correct(const std::string& id, const std::string& idea, int round, double log_ratio,
                      const std::string& parent) {
  CandidateView c;
  c.id = id;
  c.idea_id = idea;
  c.parent_id = parent;
  c.round = round;
  c.state = CandidateState::kDone;
  c.outcome = v1::OUTCOME_OK;
  c.log_ratio = log_ratio;
  return c;
}

IdeaView MakeIdea(const std::string& id, int round, const std::string& parent, int requested, int island) {
  IdeaView idea;
  idea.id = id;
  idea.parent_id = parent;
  idea.round = round;
  idea.requested = requested;
  idea.island = island;
  return idea;
}

TaskView Proposed(const std::string& parent, int round, int count, TaskState state) {
  return {TaskKind::kPropose, parent, parent, round, count, state};
}

std::vector<Action> Next(const Snapshot& snapshot, const Capacity& capacity, int64_t now_us, uint64_t seed) {
  return MakeStrategy(snapshot.values.strategy).value()->Next(snapshot, 1, seed, now_us, capacity);
}

std::vector<std::string> Parents(const std::vector<Action>& actions) {
  std::vector<std::string> parents;
  for (const Action& action : actions) {
    if (const auto* propose = std::get_if<Propose>(&action)) parents.push_back(propose->parent_id);
  }
  return parents;
}

}  // namespace warpsmith::search
