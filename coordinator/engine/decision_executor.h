// Carries out a strategy's actions in the transaction that logs the decision, and ends searches.
// Threading: stateless; each call works in the caller's transaction.
#ifndef WARPSMITH_COORDINATOR_ENGINE_DECISION_EXECUTOR_H_
#define WARPSMITH_COORDINATOR_ENGINE_DECISION_EXECUTOR_H_

#include <string>
#include <vector>

#include "coordinator/engine/settings.h"
#include "coordinator/queue/task_queue.h"
#include "coordinator/search/strategy.h"
#include "coordinator/store/records.h"

namespace warpsmith::engine {

class DecisionExecutor {
 public:
  DecisionExecutor(queue::TaskQueue& queue, const EngineSettings& settings) : queue_(queue), settings_(settings) {}

  // `cancelled` gets the tasks that the end of the search called back.
  absl::Status Execute(store::Transaction& transaction, const store::SearchRecord& record,
                       const std::vector<search::Action>& actions, int64_t now_us,
                       std::vector<queue::CancelledTask>* cancelled) const;

  // Opens round 1 of a search that intake has accepted.
  absl::Status OpenFirstRound(store::Transaction& transaction, const store::SearchRecord& record, int64_t now_us) const;

  // Ends a search (done, cancelled, failed), admits its kernels to the bank and calls its tasks back. False: it had
  // ended before.
  absl::StatusOr<bool> End(store::Transaction& transaction, const store::SearchRecord& record, v1::SearchState state,
                           const std::string& reason, const std::string& error, int64_t now_us,
                           std::vector<queue::CancelledTask>* cancelled) const;

  const EngineSettings& settings() const { return settings_; }

 private:
  absl::Status PutTask(store::Transaction& transaction, const store::SearchRecord& record, queue::TaskSpec spec,
                       const std::string& key) const;
  absl::Status CloseRound(store::Transaction& transaction, const store::SearchRecord& record, int round,
                          int64_t now_us) const;

  queue::TaskQueue& queue_;
  const EngineSettings settings_;
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_DECISION_EXECUTOR_H_
