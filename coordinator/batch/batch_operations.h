// What operators do to batches. Each call is one transaction, but for cancelling, whose searches end one by one; a
// coordinator that dies in between goes on with it.
// Threading: stateless; safe from any thread. Errors: name the field or problem and the remedy.
#ifndef WARPSMITH_COORDINATOR_BATCH_BATCH_OPERATIONS_H_
#define WARPSMITH_COORDINATOR_BATCH_BATCH_OPERATIONS_H_

#include <string>
#include <vector>

#include "common/clock.h"
#include "coordinator/batch/batch_records.h"
#include "coordinator/engine/decision_executor.h"
#include "coordinator/engine/search_intake.h"
#include "coordinator/engine/signals.h"

namespace warpsmith::batch {

struct BatchContext {
  store::Database& database;
  queue::TaskQueue& queue;
  const engine::DecisionExecutor& executor;
  engine::Signals& signals;
  Clock& clock;
};

// Ends what is open of a cancelled batch, each search in a transaction of its own.
absl::Status EndCancelled(const BatchContext& context, const std::string& batch_id);

// A new search's place as the problem `key` of the batch.
engine::SearchPlace PlaceIn(const BatchRecord& record, const std::string& key);

class BatchOperations {
 public:
  explicit BatchOperations(const BatchContext& context) : context_(context) {}

  // Each returns the batch's id.
  absl::StatusOr<std::string> Submit(const v1::SubmitBatchRequest& request);
  absl::StatusOr<std::string> Add(const v1::AddProblemsRequest& request);
  absl::StatusOr<std::string> SetPaused(const std::string& prefix, bool paused);
  absl::StatusOr<std::string> Cancel(const std::string& prefix);
  // Problems that failed are searched anew; those that ended for want of a budget which has room now, or with tasks in
  // quarantine, go on where they ended.
  absl::StatusOr<std::string> RetryFailed(const std::string& prefix, int* retried);
  absl::StatusOr<std::string> Set(const v1::SetBatchRequest& request);

 private:
  absl::Status AddAll(store::Transaction& transaction, const BatchRecord& record,
                      const google::protobuf::RepeatedPtrField<v1::ProblemSource>& problems, bool more,
                      const std::string& message);
  absl::StatusOr<BatchRecord> Lock(store::Transaction& transaction, const std::string& prefix);
  absl::StatusOr<std::vector<std::string>> LockSearches(store::Transaction& transaction, const std::string& batch_id);
  absl::Status SearchAnew(store::Transaction& transaction, const BatchRecord& record, const store::Row& row);
  absl::Status GoOn(store::Transaction& transaction, const std::string& search_id, bool had_ended);
  void Tell(const std::vector<std::string>& searches);

  const BatchContext context_;
};

}  // namespace warpsmith::batch

#endif  // WARPSMITH_COORDINATOR_BATCH_BATCH_OPERATIONS_H_
