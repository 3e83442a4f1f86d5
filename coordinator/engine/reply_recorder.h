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

// One request to the gateway: the key that makes it one, and the budget set aside for it (0: none).
struct CallOfTask {
  std::string idempotency_key;
  int64_t reservation = 0;
};

struct ProposedIdeas {
  CallOfTask call;
  v1::ProposeIdeasReply reply;
};

class ReplyRecorder {
 public:
  ReplyRecorder(store::Database& database, queue::TaskQueue& queue, const EngineSettings& settings)
      : database_(database), queue_(queue), settings_(settings) {}

  // Ideas, what they cost and the task's end in one transaction; the last reply says whether there are more.
  // FailedPrecondition: no usable idea though the models have more to say (an ordinary failure of the task; the calls
  // are recorded and their reservations settled).
  absl::Status RecordIdeas(const queue::Task& task, const std::vector<ProposedIdeas>& proposed);

  // One implementation at its arrival: the candidate and its evaluation task. Calls it again for the same index: no
  // change.
  absl::Status RecordImplementation(const queue::Task& task, const CallOfTask& call,
                                    const v1::Implementation& implementation);

  // The repaired candidate, what it cost and the task's end.
  absl::Status RecordRepair(const queue::Task& task, const CallOfTask& call, const v1::Implementation& implementation);

  // The end of an implement task whose indexes have all arrived, or of any whose search cannot pay for it.
  absl::Status RecordEnd(const queue::Task& task, const std::string& result = {});

  // Settles what a call did cost; abandoned: nobody knows, so all that was set aside counts.
  absl::Status Close(const CallOfTask& call, bool abandoned);

 private:
  absl::Status StoreCalls(store::Transaction& transaction, const queue::Task& task, const CallOfTask& of,
                          const v1::Implementation& implementation);
  absl::Status StoreCall(store::Transaction& transaction, const queue::Task& task, const CallOfTask& of, int position,
                         const v1::ModelCall& call);

  store::Database& database_;
  queue::TaskQueue& queue_;
  const EngineSettings settings_;
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_REPLY_RECORDER_H_
