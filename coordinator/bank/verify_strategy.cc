#include "coordinator/bank/verify_strategy.h"

#include <algorithm>

#include "coordinator/bank/admission.h"
#include "coordinator/search/snapshot_index.h"

namespace warpsmith::bank {

std::string VerifyStrategy::name() const { return kVerifyStrategy; }

std::vector<search::Action> VerifyStrategy::Next(const search::Snapshot& snapshot, uint64_t /*decision_seq*/,
                                                 uint64_t /*seed*/, int64_t /*now_us*/,
                                                 const search::Capacity& capacity) const {
  const search::SnapshotIndex index(snapshot);
  std::vector<search::Action> actions;
  bool more = false;
  for (const search::CandidateView* candidate : index.candidates()) {
    if (candidate->state != search::CandidateState::kQueued ||
        index.HasTask(search::TaskKind::kConfirm, candidate->id)) {
      continue;
    }
    if (static_cast<int>(actions.size()) < capacity.evaluations) {
      actions.emplace_back(search::Evaluate{candidate->id, "confirm"});
    } else {
      more = true;
    }
  }
  if (actions.empty() && !more && !index.AnyOpenTask()) actions.emplace_back(search::Finish{"verified"});
  return actions;
}

}  // namespace warpsmith::bank
