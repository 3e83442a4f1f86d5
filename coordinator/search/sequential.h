// The usual practice, to compare with: one line of work. Each turn asks for one idea on the best kernel so far (from
// the module until there is one), has it implemented once and repaired if it fails. Models are told every earlier turn.
// A round has CallsARound() model calls before repairs.
// Threading: const.
#ifndef WARPSMITH_COORDINATOR_SEARCH_SEQUENTIAL_H_
#define WARPSMITH_COORDINATOR_SEARCH_SEQUENTIAL_H_

#include <string>
#include <vector>

#include "coordinator/search/round_strategy.h"

namespace warpsmith::search {

class Sequential final : public RoundStrategy {
 public:
  std::string name() const override { return "sequential"; }

 protected:
  int Implementations(const SearchValues&) const override { return 1; }
  std::vector<Propose> StartRound(const SnapshotIndex& index, uint64_t seed) const override;
  std::vector<Propose> ContinueRound(const SnapshotIndex& index) const override;
  bool Complete(const SnapshotIndex& index, const RoundProgress& progress) const override;

 private:
  bool CallsLeft(const SnapshotIndex& index) const;
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_SEQUENTIAL_H_
