// The queue: at-least-once execution, exactly-once recorded completion. A task is leased to a worker's boot; its epoch
// grows at each claim and fences completions. A dead worker is found by its lease, a live but stuck one by the task's
// deadline; deaths are counted apart from failures, and a task that killed several workers is quarantined.
// Threading: stateless but for counters; each call runs in the caller's transaction.
#ifndef WARPSMITH_COORDINATOR_QUEUE_TASK_QUEUE_H_
#define WARPSMITH_COORDINATOR_QUEUE_TASK_QUEUE_H_

#include <atomic>
#include <string>
#include <vector>

#include "coordinator/queue/pairing.h"
#include "coordinator/queue/task.h"
#include "coordinator/store/database.h"

namespace warpsmith::queue {

struct QueueSettings {
  double lease_seconds = 15;
  int max_worker_deaths = 3;  // different workers; a single one counts up to twice as often
  double retry_seconds = 1;   // before the first retry; doubles, to 60 s
  // By how much older a task counts for a device that was at its problem last.
  double affinity_seconds = 30;
  // For how long what failed at a worker is left to the others of its kind.
  double elsewhere_seconds = 30;
};

struct QueueCounters {
  std::atomic<int64_t> completions{0};
  std::atomic<int64_t> stale_completions{0};
  std::atomic<int64_t> rescued_leases{0};
  std::atomic<int64_t> rescued_deadlines{0};
  std::atomic<int64_t> quarantined{0};
};

struct Completion {
  TaskKey key;
  std::string result;  // one line, kept with the task
};

struct CancelledTask {
  TaskKey key;  // with the epoch that its holder knows
  std::string owner_worker;
  TaskKind kind;
};

struct OwnedKey {
  std::string worker_id;
  TaskKey key;
  auto operator<=>(const OwnedKey&) const = default;
};

struct OwnedKeys {
  Owner owner;
  std::vector<TaskKey> keys;
};

class TaskQueue {
 public:
  virtual ~TaskQueue() = default;
  virtual const QueueSettings& settings() const = 0;
  virtual const QueueCounters& counters() const = 0;

  // 0: it was there already.
  virtual absl::StatusOr<int64_t> Put(store::Transaction& transaction, const TaskSpec& spec) = 0;
  // Up to `limit` tasks, first by priority, then by age: work for a device (intake, evaluate) that it can take, or
  // calls to models, for which placement does not count. Tasks of paused searches stay.
  virtual absl::StatusOr<std::vector<Task>> Claim(store::Transaction& transaction, const Owner& owner,
                                                  const std::vector<TaskKind>& kinds, const Placement& placement,
                                                  int limit) = 0;
  // The same work for a device for many at once, in a number of statements that grows with the kinds of device alone.
  // The tasks' owners say whose they are.
  virtual absl::StatusOr<std::vector<Task>> ClaimForMany(store::Transaction& transaction,
                                                         const std::vector<Claimant>& claimants) = 0;
  // All leases of one owner at once; returns those that it still holds.
  virtual absl::StatusOr<std::vector<TaskKey>> Renew(store::Transaction& transaction, const Owner& owner,
                                                     const std::vector<TaskKey>& held) = 0;
  // The same for many owners at once; what comes back names its owner's worker.
  virtual absl::StatusOr<std::vector<OwnedKey>> RenewMany(store::Transaction& transaction,
                                                          const std::vector<OwnedKeys>& held) = 0;
  // What an earlier boot of this worker had finished and its new boot still has becomes the new boot's: call it before
  // FreeOtherBoots. Returns what was adopted.
  virtual absl::StatusOr<std::vector<TaskKey>> Adopt(store::Transaction& transaction, const Owner& owner,
                                                     const std::vector<TaskKey>& finished) = 0;
  // Returns the tasks whose completion counts; the others are stale and are counted.
  virtual absl::StatusOr<std::vector<Task>> Complete(store::Transaction& transaction,
                                                     const std::vector<Completion>& completions) = 0;
  // Whether this very completion was recorded before (a repeated message).
  virtual absl::StatusOr<std::vector<TaskKey>> AlreadyDone(store::Transaction& transaction,
                                                           const std::vector<TaskKey>& keys) = 0;
  // An ordinary failure: tried again later, or quarantined. Empty: stale.
  virtual absl::StatusOr<std::vector<Task>> Fail(store::Transaction& transaction, const TaskKey& key,
                                                 const std::string& error) = 0;
  // Back into the queue without a charge.
  virtual absl::Status Release(store::Transaction& transaction, const std::vector<TaskKey>& keys, double delay_seconds,
                               const std::string& why) = 0;
  // Tasks taken from dead and stuck workers; those quarantined by it have that state.
  virtual absl::StatusOr<std::vector<Task>> Rescue(store::Transaction& transaction) = 0;
  // Frees what other boots of this worker hold. `died`: count it as a death.
  virtual absl::StatusOr<std::vector<Task>> FreeOtherBoots(store::Transaction& transaction, const Owner& owner,
                                                           bool died) = 0;
  virtual absl::StatusOr<std::vector<CancelledTask>> CancelSearch(store::Transaction& transaction,
                                                                  const std::string& search_id,
                                                                  const std::string& why) = 0;
};

}  // namespace warpsmith::queue

#endif  // WARPSMITH_COORDINATOR_QUEUE_TASK_QUEUE_H_
