// Lets the searches of batches begin their rounds, by expected gain (search/batch_allocation.h), within what each batch
// and each owner may have under way at once; stops those that gain no more; ends batches. A search that may not begin
// its next round waits between two rounds, with nothing in the queue. Everything is in the database: one that is
// started anew goes on where the last one stopped. Threading: a thread of its own; Wake may be called from any. Turn is
// one pass, for those who step it themselves.
#ifndef WARPSMITH_COORDINATOR_BATCH_BATCH_SCHEDULER_H_
#define WARPSMITH_COORDINATOR_BATCH_BATCH_SCHEDULER_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/batch/batch_operations.h"
#include "coordinator/search/batch_allocation.h"

namespace warpsmith::batch {

class BatchScheduler {
 public:
  explicit BatchScheduler(const BatchContext& context, const search::AllocationRules& rules = {})
      : context_(context), rules_(rules) {}
  ~BatchScheduler();

  void Start();
  void Stop();
  void Wake();
  void Turn();

 private:
  // What a pass over one batch has changed.
  struct Changes {
    std::vector<std::string> searches;
    std::vector<queue::CancelledTask> cancelled;
  };

  void Loop();
  absl::Status Schedule(const std::string& batch_id);
  absl::Status ScheduleIn(store::Transaction& transaction, const BatchRecord& record, Changes* changes);
  absl::StatusOr<search::BatchView> View(store::Transaction& transaction, const BatchRecord& record);
  absl::StatusOr<int> PlacesOf(store::Transaction& transaction, const std::string& owner);
  absl::Status Begin(store::Transaction& transaction, const search::ProblemView& problem, int round, Changes* changes);
  absl::Status StopSearch(store::Transaction& transaction, const search::ProblemView& problem,
                          const std::string& reason, Changes* changes);
  absl::Status AdmitSingles();
  void Tell(const Changes& changes);

  const BatchContext context_;
  const search::AllocationRules rules_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  bool woken_ = false;     // guarded by mutex_
  std::thread thread_;
};

}  // namespace warpsmith::batch

#endif  // WARPSMITH_COORDINATOR_BATCH_BATCH_SCHEDULER_H_
