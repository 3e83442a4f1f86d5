// What a decision may still spend. Open calls count as if they cost the mean of those before, so that a search plans no
// more than it can pay for. The limit itself is kept by the reservations that are made before each call; once one of
// them was refused for good (UsageView::calls_refused), nothing more is planned.
// Threading: one decision's own.
#ifndef WARPSMITH_COORDINATOR_SEARCH_BUDGET_H_
#define WARPSMITH_COORDINATOR_SEARCH_BUDGET_H_

#include "coordinator/search/snapshot_index.h"
#include "coordinator/search/strategy.h"

namespace warpsmith::search {

class Budget {
 public:
  Budget(const SnapshotIndex& index, const Capacity& capacity);

  // How many of `wanted` may go; they are taken off.
  int TakeModelCalls(int wanted);
  int TakeEvaluations(int wanted);
  // Something was held back for money, tokens or GPU time (not for capacity).
  bool blocked() const { return blocked_; }
  // No evaluation can be paid for any more.
  bool evaluations_blocked() const { return evaluations_affordable_ < 1; }
  // A round needs an idea, an implementation and an evaluation.
  bool CanStartRound() const { return calls_affordable_ >= 2 && evaluations_affordable_ >= 1; }

 private:
  int Take(int wanted, int* affordable, int* capacity);

  int calls_affordable_;
  int evaluations_affordable_;
  Capacity capacity_;
  bool blocked_ = false;
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_BUDGET_H_
