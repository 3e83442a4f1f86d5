// Before a model is asked: which arm it shall be, and the budget for it.
// The arm is chosen among those whose call can still be paid for, by the search's bandit or its fixed split, with a
// seed made of the search's and the task's; a call that is repeated keeps the arm that it was first made with. Ideas of
// the catalog stay with it, and where the catalog is all there is nothing is chosen.
// Refusals: where not even the cheapest call fits into the search's or batch's budget beside what is used, the search
// is marked as spent, the task ends, and the strategy plans no more calls (finish_reason "budget"). Where the day's
// budget is used up, or calls in flight hold what is left, the task waits and is tried again. Threading: stateless;
// runs in the caller's write transaction. Units: US dollars, tokens, seconds.
#ifndef WARPSMITH_COORDINATOR_ENGINE_CALL_PLANNER_H_
#define WARPSMITH_COORDINATOR_ENGINE_CALL_PLANNER_H_

#include <optional>
#include <string>

#include "common/clock.h"
#include "coordinator/engine/settings.h"
#include "coordinator/queue/task.h"
#include "coordinator/search/model_arms.h"
#include "coordinator/store/records.h"

namespace warpsmith::engine {

struct CallNeed {
  std::string idempotency_key;
  int calls = 1;             // implementations wanted; fewer may be granted
  int pulls = 1;             // propose: ideas wanted
  int64_t input_tokens = 0;  // of one call, at most
  bool of_catalog = false;   // its idea is the catalog's
  bool no_catalog = false;   // the catalog was asked already
};

struct Refusal {
  bool for_good = false;     // the search's money or tokens are spent
  double delay_seconds = 0;  // until it is worth trying again
  std::string why;           // without figures that change while it waits
};

struct CallPlan {
  int64_t reservation = 0;
  std::optional<search::ModelArm> arm;  // none: the models that the search names, as the gateway likes
  bool others = false;                  // beside the arm, other than the catalog
  int calls = 0;
  double max_usd = 0;            // 0: no limit
  int64_t max_total_tokens = 0;  // 0: no limit
  std::optional<Refusal> refusal;

  // Which models, effort and prompts, and what they may cost.
  void Fill(v1::CallContext* call) const;
};

class CallPlanner {
 public:
  CallPlanner(const EngineSettings& settings, Clock& clock) : settings_(settings), clock_(clock) {}

  absl::StatusOr<CallPlan> Plan(store::Transaction& transaction, const store::SearchRecord& search,
                                const queue::Task& task, const v1::ListModelsReply& models, const CallNeed& need) const;

 private:
  const EngineSettings settings_;
  Clock& clock_;
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_CALL_PLANNER_H_
