// A search's bandits, rebuilt from what is recorded of it: what each arm was asked for, what came of it, what it cost.
// There is no other state, so a bandit survives restarts, and what it knew at any time can be computed again.
// What counts: for code, each implementation and repair; for ideas, each idea, by the best of its implementations. A
// result's score is the log of its speedup over PyTorch, against its parent's or PyTorch's, whichever is faster. What
// was asked for and did not come is a failure; calls in flight count as asked for.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_ENGINE_ARM_HISTORY_H_
#define WARPSMITH_COORDINATOR_ENGINE_ARM_HISTORY_H_

#include <string>

#include "coordinator/search/model_bandit.h"
#include "coordinator/store/database.h"

namespace warpsmith::engine {

absl::StatusOr<search::ModelBandit> RebuildBandit(store::Transaction& transaction, const std::string& search_id,
                                                  bool for_ideas);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_ARM_HISTORY_H_
