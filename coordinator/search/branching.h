// The default strategy: B parents, I ideas for each, K implementations of each idea, F repairs of each failure; the
// best lead on. Parents: the best; the best of another lineage; others drawn with a weight that falls with their rank
// and with the ideas they already had, so that a slower kernel may go on; in every second round a kernel of the bank.
// At most two parents share a lineage. Ideas for which there is no parent are asked for from the module itself.
// Threading: const. Sources: Stanford CRFM's fast-kernels method; ShinkaEvolve's weighted parent draw.
#ifndef WARPSMITH_COORDINATOR_SEARCH_BRANCHING_H_
#define WARPSMITH_COORDINATOR_SEARCH_BRANCHING_H_

#include <string>
#include <vector>

#include "coordinator/search/round_strategy.h"

namespace warpsmith::search {

class Branching final : public RoundStrategy {
 public:
  std::string name() const override { return "branching"; }

 protected:
  int Implementations(const SearchValues& values) const override { return values.implementations; }
  std::vector<Propose> StartRound(const SnapshotIndex& index, uint64_t seed) const override;
  std::vector<Propose> ContinueRound(const SnapshotIndex&) const override { return {}; }
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_BRANCHING_H_
