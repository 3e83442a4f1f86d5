// Records what models answered: the calls themselves (once per idempotency key), ideas, implementations and repairs.
// Threading: stateless; each call runs its own transaction. Errors: Unavailable and the like mean that nothing was
// recorded.
#ifndef WARPSMITH_COORDINATOR_ENGINE_REPLY_RECORDER_H_
#define WARPSMITH_COORDINATOR_ENGINE_REPLY_RECORDER_H_

#include <string>
#include <vector>

#include "coordinator/engine/settings.h"
#include "coordinator/queue/task_queue.h"
#include "coordinator/store/database.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::engine {

class ReplyRecorder {
 public:
  ReplyRecorder(store::Database& database, queue::TaskQueue& queue, const EngineSettings& settings)
      : database_(database), queue_(queue), settings_(settings) {}

  // Ideas and the task's end in one transaction. FailedPrecondition: no usable idea though the model has more to say
  // (an ordinary failure of the task; the calls are recorded).
  absl::Status RecordIdeas(const queue::Task& task, const v1::ProposeIdeasReply& reply);

  // One implementation at its arrival: the candidate and its evaluation task. Calls it again for the same index: no
  // change.
  absl::Status RecordImplementation(const queue::Task& task, const v1::Implementation& implementation);

  // The repaired candidate and the task's end.
  absl::Status RecordRepair(const queue::Task& task, const v1::Implementation& implementation);

  // The end of an implement task whose indexes have all arrived.
  absl::Status RecordEnd(const queue::Task& task);

 private:
  absl::Status StoreCall(store::Transaction& transaction, const queue::Task& task, int position,
                         const v1::ModelCall& call);

  store::Database& database_;
  queue::TaskQueue& queue_;
  const EngineSettings settings_;
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_REPLY_RECORDER_H_
