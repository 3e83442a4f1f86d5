// What strategies that work in rounds share: following up what came back, closing rounds, ending, measuring the winners
// again (the best of many noisy times is too good; only a second measurement is believed), stopping where the hardware
// leaves nothing to gain. A round closes when round_close_share of its jobs are settled, or at its deadline; the last
// one waits for all that is under way, since nothing comes after it that could take up its stragglers.
// Threading: const.
#ifndef WARPSMITH_COORDINATOR_SEARCH_ROUND_STRATEGY_H_
#define WARPSMITH_COORDINATOR_SEARCH_ROUND_STRATEGY_H_

#include <optional>
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
  virtual std::vector<Propose> ContinueRound(const SnapshotIndex&) const { return {}; }
  // The round has had all of its share before its deadline.
  virtual bool Complete(const SnapshotIndex& index, const RoundProgress& progress) const;

 private:
  std::vector<Action> FollowUps(const SnapshotIndex& index, Budget* budget) const;
  std::vector<Action> End(const SnapshotIndex& index, Budget* budget, const std::string& reason) const;
  // What is to be done where the fastest kernel stands at the roofline; nullopt: it does not.
  std::optional<std::vector<Action>> AtRoofline(const SnapshotIndex& index, Budget* budget) const;
  std::vector<Action> Open(const SnapshotIndex& index, Budget* budget, uint64_t seed, bool past_deadline) const;
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_ROUND_STRATEGY_H_
