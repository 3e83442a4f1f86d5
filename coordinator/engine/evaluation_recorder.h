// Stores evaluations with what follows from them: candidates' results, twins, copies, searches' bests, a line for
// people. Many at once, in a number of statements that does not grow with theirs. Threading: pure functions over a
// transaction, which must hold the locks of the searches concerned.
#ifndef WARPSMITH_COORDINATOR_ENGINE_EVALUATION_RECORDER_H_
#define WARPSMITH_COORDINATOR_ENGINE_EVALUATION_RECORDER_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/engine/settings.h"
#include "coordinator/queue/task_queue.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::engine {

// The result of a task that was completed in this transaction.
struct EvaluatedTask {
  const queue::Task* task = nullptr;
  const v1::TaskResult* result = nullptr;  // has an evaluation
  std::string worker_id;
};

struct StoredEvaluation {
  int64_t id = 0;
  const queue::Task* task = nullptr;
  v1::Evaluation evaluation;  // as stored
};

// Returns those that were not there before. A candidate's later evaluation in the list is its result.
absl::StatusOr<std::vector<StoredEvaluation>> StoreEvaluations(store::Transaction& transaction, queue::TaskQueue& queue,
                                                               const EngineSettings& settings,
                                                               const std::vector<EvaluatedTask>& evaluated);

// A line for each search and round.
absl::Status NarrateProgress(store::Transaction& transaction, const std::set<std::pair<std::string, int>>& rounds);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_EVALUATION_RECORDER_H_
