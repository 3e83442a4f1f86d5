#include "coordinator/search/best_of_n.h"

#include <algorithm>

namespace warpsmith::search {

std::vector<Propose> BestOfN::StartRound(const SnapshotIndex& index, uint64_t /*seed*/) const {
  return ContinueRound(index);
}

std::vector<Propose> BestOfN::ContinueRound(const SnapshotIndex& index) const {
  if (index.Exhausted("")) return {};
  const int round = std::max(1, index.snapshot().round);
  const auto asked = std::count_if(index.tasks().begin(), index.tasks().end(), [&](const TaskView* task) {
    return task->kind == TaskKind::kPropose && task->round == round;
  });
  const int64_t attempts = std::max<int64_t>(1, CallsARound(index.values()) / 2);
  return std::vector<Propose>(static_cast<size_t>(std::max<int64_t>(0, attempts - asked)), Propose{"", 1, round});
}

bool BestOfN::Complete(const SnapshotIndex& index, const RoundProgress& progress) const {
  return ContinueRound(index).empty() && RoundStrategy::Complete(index, progress);
}

}  // namespace warpsmith::search
