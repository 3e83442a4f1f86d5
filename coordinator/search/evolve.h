// Several populations that know nothing of each other: what one is stuck on, another may get past. A round has B
// parents as one of `branching` has; the islands take turns in giving them, as many a round as there are. An island's
// parent is drawn with a weight of 1 / (rank · (1 + its ideas for it)). Its models are told its own history only.
// - Migration: the fastest kernel of the island before it in the ring is an island's parent in its first turn after
//   every migration_rounds rounds, and belongs to it from then on.
// - Restart: an island of the slower half that has not gained in two rounds of its own is given up for a new one,
// founded
//   on the fastest kernel of one of the faster half.
// - In every second round the last parent is a kernel of the bank. An island without a kernel starts from the module.
// Threading: const. Sources: FunSearch, OpenEvolve (islands.h); ShinkaEvolve (draw by rank, fewer children first).
#ifndef WARPSMITH_COORDINATOR_SEARCH_EVOLVE_H_
#define WARPSMITH_COORDINATOR_SEARCH_EVOLVE_H_

#include <string>
#include <vector>

#include "coordinator/search/round_strategy.h"

namespace warpsmith::search {

class Evolve final : public RoundStrategy {
 public:
  std::string name() const override { return "evolve"; }

 protected:
  int Implementations(const SearchValues& values) const override { return values.implementations; }
  std::vector<Propose> StartRound(const SnapshotIndex& index, uint64_t seed) const override;
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_EVOLVE_H_
