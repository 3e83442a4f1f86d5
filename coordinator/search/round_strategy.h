// What strategies that work in rounds share: following up what came back, closing rounds, ending, measuring the winners
// again (the best of many noisy times is too good; only a second measurement is believed).
// Threading: const.
#ifndef WARPSMITH_COORDINATOR_SEARCH_ROUND_STRATEGY_H_
#define WARPSMITH_COORDINATOR_SEARCH_ROUND_STRATEGY_H_

#include <string>
#include <vector>

#include "coordinator/search/budget.h"
#include "coordinator/search/snapshot_index.h"
#include "coordinator/search/strategy.h"

namespace warpsmith::search {

class RoundStrategy : public Strategy {
 public:
  std::vector<Action> Next(const Snapshot& snapshot, uint64_t decision_seq, uint64_t seed, int64_t now_us,
                           const Capacity& capacity) const final;

 protected:
  // Implementations that each idea gets.
  virtual int Implementations(const SearchValues& values) const = 0;
  // The ideas to ask for when a round starts; none: every parent is exhausted.
  virtual std::vector<Propose> StartRound(const SnapshotIndex& index, uint64_t seed) const = 0;
  // More ideas within a started round in which nothing is under way.
  virtual std::vector<Propose> ContinueRound(const SnapshotIndex& index) const = 0;
  // The round has had all of its share before its deadline.
  virtual bool Complete(const SnapshotIndex& index, const RoundProgress& progress) const = 0;

 private:
  std::vector<Action> FollowUps(const SnapshotIndex& index, Budget* budget) const;
  std::vector<Action> End(const SnapshotIndex& index, Budget* budget, const std::string& reason) const;
  std::vector<Action> Open(const SnapshotIndex& index, Budget* budget, uint64_t seed, bool past_deadline) const;
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_ROUND_STRATEGY_H_
