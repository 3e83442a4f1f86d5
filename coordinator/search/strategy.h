// What a search does next, as a pure function of what it has so far: the same snapshot, seed, time and capacity give
// the same actions, in any order of the snapshot's vectors. So a search can be stopped, resumed, replayed and
// simulated.
//
// How a coordinator drives it: read a Snapshot; call Next; record the decision (decision.h: SnapshotHash,
// ActionsToJson) and carry out all of its actions in one transaction, as tasks that the next snapshot shows; call again
// at every change and every few seconds (deadlines). An action that was carried out is not returned again. No actions:
// wait.
// - Propose, Implement, Repair, Evaluate: make a task (key it by decision number and place in the list: `sequential`
// and
//   `best_of_n` ask for ideas on one parent many times a round). Ideas keep their Propose's island. Implement raises
//   IdeaView::requested by indexes.size(). Evaluate moves a queued candidate to kEvaluating; with stage "confirm" it is
//   a task of kind kConfirm whose result replaces the candidate's evaluation, and the candidate stays kDone meanwhile.
// - CloseRound: write the round's summary; the open round becomes round+1, started now, also after the last round.
// - Finish: the search is done; open tasks are cancelled.
// Candidates, ideas and results that come late are recorded with their own round and join the pool.
//
// Threading: Next is const and touches nothing shared.
// Sources: Stanford CRFM's fast-kernels method (rounds, branching); ShinkaEvolve (weighted draw of a parent).
#ifndef WARPSMITH_COORDINATOR_SEARCH_STRATEGY_H_
#define WARPSMITH_COORDINATOR_SEARCH_STRATEGY_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "common/status.h"
#include "coordinator/search/snapshot.h"

namespace warpsmith::search {

struct Propose {
  std::string parent_id;  // empty: the module itself; may be a bank seed's candidate
  int count = 0;          // ideas wanted
  int round = 0;
  int island = 0;  // strategy evolve: whose ideas they will be, and whose history the models are told; 0: none
  bool operator==(const Propose&) const = default;
};
struct Implement {
  std::string idea_id;
  int count = 0;             // K, to tell the model
  std::vector<int> indexes;  // which of the K are wanted now, from 0
  int round = 0;             // the idea's
  bool operator==(const Implement&) const = default;
};
struct Repair {
  std::string candidate_id;
  int attempt = 0;  // from 1
  bool operator==(const Repair&) const = default;
};
struct Evaluate {
  std::string candidate_id;
  std::string stage;  // measure, confirm
  bool operator==(const Evaluate&) const = default;
};
struct CloseRound {
  int round = 0;
  bool operator==(const CloseRound&) const = default;
};
struct Finish {
  std::string reason;  // rounds, no_gain, budget, ideas_exhausted, roofline
  bool operator==(const Finish&) const = default;
};
using Action = std::variant<Propose, Implement, Repair, Evaluate, CloseRound, Finish>;

// How many more tasks of each sort may be put into the queue now.
struct Capacity {
  int model_calls = std::numeric_limits<int>::max();
  int evaluations = std::numeric_limits<int>::max();
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string name() const = 0;
  virtual std::vector<Action> Next(const Snapshot& snapshot, uint64_t decision_seq, uint64_t seed, int64_t now_us,
                                   const Capacity& capacity) const = 0;
};

// By one of StrategyNames(); InvalidArgument names those there are.
absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(const std::string& name);

// Correct candidates, fastest first, whatever their spread: what `best` means to people.
std::vector<CandidateView> RankCandidates(const Snapshot& snapshot);

// Whether `candidate` is faster than `other` beyond both intervals.
bool ClearlyFaster(const CandidateView& candidate, const CandidateView& other);

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_STRATEGY_H_
