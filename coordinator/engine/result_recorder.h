// Records what workers send: evaluations and intakes, in one transaction with the tasks' completion, so that each is
// recorded once. Also what follows when a task is given up.
// Threading: stateless; Record runs its own transaction, the others work in the caller's.
#ifndef WARPSMITH_COORDINATOR_ENGINE_RESULT_RECORDER_H_
#define WARPSMITH_COORDINATOR_ENGINE_RESULT_RECORDER_H_

#include <set>
#include <string>
#include <vector>

#include "common/clock.h"
#include "coordinator/engine/decision_executor.h"
#include "coordinator/engine/engine_observer.h"
#include "coordinator/engine/signals.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::engine {

struct WorkerResult {
  std::string worker_id;
  v1::DeviceDescription device;
  v1::TaskResult result;
};

struct RecordedResult {
  queue::TaskKey key;
  bool recorded = false;  // false: stale, or refused for good
};

class ResultRecorder {
 public:
  ResultRecorder(store::Database& database, queue::TaskQueue& queue, const DecisionExecutor& executor, Signals& signals,
                 Clock& clock)
      : database_(database), queue_(queue), executor_(executor), signals_(signals), clock_(clock) {}

  // Before the first Record; outlives this.
  void Observe(EngineObserver& observer) { observer_ = &observer; }

  // One transaction for all. Where one of them cannot be stored at all, each is stored by itself and the bad one's task
  // fails. Unavailable and ResourceExhausted: nothing was recorded; try again.
  absl::StatusOr<std::vector<RecordedResult>> Record(const std::vector<WorkerResult>& results);

  // A quarantined task's meaning for its search: a failed intake ends it, an evaluation counts as the machine's fault.
  absl::Status GiveUp(store::Transaction& transaction, const queue::Task& task,
                      std::vector<queue::CancelledTask>* cancelled);

 private:
  absl::StatusOr<std::vector<RecordedResult>> RecordTogether(const std::vector<WorkerResult>& results);
  absl::Status RecordIntake(store::Transaction& transaction, const queue::Task& task, const WorkerResult& result,
                            std::vector<queue::CancelledTask>* cancelled, bool* refused);

  store::Database& database_;
  queue::TaskQueue& queue_;
  const DecisionExecutor& executor_;
  Signals& signals_;
  Clock& clock_;
  EngineObserver* observer_ = &EngineObserver::None();
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_RESULT_RECORDER_H_
