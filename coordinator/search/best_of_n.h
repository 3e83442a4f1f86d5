// The plainest use of a model, to compare with: independent attempts at the module itself, of which the best is kept.
// Each attempt is an idea, one implementation of it and its repairs. No attempt is told of another one (engine/
// model_requests.h leaves the history out), so they can all be asked for at once. A round is as many attempts as
// CallsARound() pays for.
// Threading: const. Source: best-of-n or repeated sampling, the usual baseline of KernelBench.
#ifndef WARPSMITH_COORDINATOR_SEARCH_BEST_OF_N_H_
#define WARPSMITH_COORDINATOR_SEARCH_BEST_OF_N_H_

#include <string>
#include <vector>

#include "coordinator/search/round_strategy.h"

namespace warpsmith::search {

class BestOfN final : public RoundStrategy {
 public:
  std::string name() const override { return "best_of_n"; }

 protected:
  int Implementations(const SearchValues&) const override { return 1; }
  std::vector<Propose> StartRound(const SnapshotIndex& index, uint64_t seed) const override;
  // What there was no room for before.
  std::vector<Propose> ContinueRound(const SnapshotIndex& index) const override;
  bool Complete(const SnapshotIndex& index, const RoundProgress& progress) const override;
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_BEST_OF_N_H_
