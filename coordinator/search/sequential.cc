#include "coordinator/search/sequential.h"

#include <algorithm>

namespace warpsmith::search {

std::vector<Propose> Sequential::StartRound(const SnapshotIndex& index, uint64_t /*seed*/) const {
  const int round = std::max(1, index.snapshot().round);
  // Among ties the one without ideas comes first: the last turn's.
  for (const CandidateView* c : index.ParentOrder()) {
    if (!index.Exhausted(c->id)) return {Propose{c->id, 1, round}};
  }
  if (!index.Exhausted("")) return {Propose{"", 1, round}};
  return {};
}

std::vector<Propose> Sequential::ContinueRound(const SnapshotIndex& index) const {
  return CallsLeft(index) ? StartRound(index, 0) : std::vector<Propose>{};
}

bool Sequential::CallsLeft(const SnapshotIndex& index) const {
  int64_t calls = 0;
  for (const TaskView* task : index.tasks()) {
    if (task->round != index.snapshot().round) continue;
    if (task->kind == TaskKind::kPropose) ++calls;
    if (task->kind == TaskKind::kImplement) calls += task->count;
  }
  // A turn is an idea and an implementation.
  return calls + 2 <= CallsARound(index.values());
}

bool Sequential::Complete(const SnapshotIndex& index, const RoundProgress& progress) const {
  return progress.settled >= progress.total && (!CallsLeft(index) || StartRound(index, 0).empty());
}

}  // namespace warpsmith::search
