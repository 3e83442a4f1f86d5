// The islands of strategy `evolve`, read off a snapshot: nothing about them is stored but the island that each idea was
// asked for by.
// - There are as many places in the ring as the settings say; island n has place (n - 1) mod places. A place whose
//   island was given up goes on with island n + places, so its island is the largest that has ideas.
// - An island's kernels are those made from its ideas, and those that its ideas were asked for: what migrated to it and
//   what it was founded on. A kernel that an operator injected belongs to all of them. An operator's idea belongs to
//   the island of the kernel that it improves; one for the module itself to any, by its id.
// Threading: const after construction; the index must outlive it. Source: the island models of FunSearch (restart of
// the worst half) and OpenEvolve (migration in a ring).
#ifndef WARPSMITH_COORDINATOR_SEARCH_ISLANDS_H_
#define WARPSMITH_COORDINATOR_SEARCH_ISLANDS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/search/snapshot_index.h"

namespace warpsmith::search {

class Islands {
 public:
  explicit Islands(const SnapshotIndex& index);

  int places() const { return places_; }
  // The island that has the place, from 0, now.
  int At(int place) const { return current_[static_cast<size_t>(place)]; }
  int PlaceOf(int island) const { return (island - 1) % places_; }
  // The places, the one with the fastest kernel first; without a kernel: last.
  std::vector<int> Ranked() const;
  bool Has(int island, const CandidateView& candidate) const;
  // Its kernels that may be parents, the best first; of those with the same cubin the earliest only.
  std::vector<const CandidateView*> Parents(int island) const;
  // The first of Parents(); nullptr: it has none.
  const CandidateView* Best(int island) const;
  // Ideas of the island for the kernel.
  int Children(int island, const std::string& candidate_id) const;
  // The last round before the open one in which it had ideas; 0: none.
  int LastRound(int island) const;
  // Rounds of its own, up to the last closed one, since its best time clearly improved.
  int RoundsWithoutGain(int island) const;

 private:
  int IslandOf(const IdeaView& idea) const;

  const SnapshotIndex& index_;
  const int places_;
  std::vector<const CandidateView*> order_;  // every possible parent
  std::vector<int> current_;                 // by place
  std::map<std::string, int> of_idea_;
  std::map<int, std::set<std::string>> members_;                    // by island
  std::map<int, std::set<int>> rounds_;                             // by island, in which ideas were asked for
  std::map<std::pair<int, std::string>, int> children_;             // by island and kernel
  std::map<std::pair<int, int>, const CandidateView*> round_best_;  // by island and round, of its own kernels
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_ISLANDS_H_
