// TaskQueue on the task table. Threading and errors: as task_queue.h says.
#ifndef WARPSMITH_COORDINATOR_QUEUE_POSTGRES_TASK_QUEUE_H_
#define WARPSMITH_COORDINATOR_QUEUE_POSTGRES_TASK_QUEUE_H_

#include "coordinator/queue/task_queue.h"

namespace warpsmith::queue {

class PostgresTaskQueue final : public TaskQueue {
 public:
  explicit PostgresTaskQueue(QueueSettings settings) : settings_(settings) {}
  const QueueSettings& settings() const override { return settings_; }
  const QueueCounters& counters() const override { return counters_; }

  // While it is on, no problem is taken in and no model is called; evaluations go on. Any thread.
  void HoldNewWork(bool on) { new_work_held_ = on; }

  absl::StatusOr<int64_t> Put(store::Transaction& transaction, const TaskSpec& spec) override;
  absl::StatusOr<std::vector<Task>> Claim(store::Transaction& transaction, const Owner& owner,
                                          const std::vector<TaskKind>& kinds, const Placement& placement,
                                          int limit) override;
  absl::StatusOr<std::vector<Task>> ClaimForMany(store::Transaction& transaction,
                                                 const std::vector<Claimant>& claimants) override;
  absl::StatusOr<std::vector<TaskKey>> Renew(store::Transaction& transaction, const Owner& owner,
                                             const std::vector<TaskKey>& held) override;
  absl::StatusOr<std::vector<OwnedKey>> RenewMany(store::Transaction& transaction,
                                                  const std::vector<OwnedKeys>& held) override;
  absl::StatusOr<std::vector<TaskKey>> Adopt(store::Transaction& transaction, const Owner& owner,
                                             const std::vector<TaskKey>& finished) override;
  absl::StatusOr<std::vector<Task>> Complete(store::Transaction& transaction,
                                             const std::vector<Completion>& completions) override;
  absl::StatusOr<std::vector<TaskKey>> AlreadyDone(store::Transaction& transaction,
                                                   const std::vector<TaskKey>& keys) override;
  absl::StatusOr<std::vector<Task>> Fail(store::Transaction& transaction, const TaskKey& key,
                                         const std::string& error) override;
  absl::Status Release(store::Transaction& transaction, const std::vector<TaskKey>& keys, double delay_seconds,
                       const std::string& why) override;
  absl::StatusOr<std::vector<Task>> Rescue(store::Transaction& transaction) override;
  absl::StatusOr<std::vector<Task>> FreeOtherBoots(store::Transaction& transaction, const Owner& owner,
                                                   bool died) override;
  absl::StatusOr<std::vector<CancelledTask>> CancelSearch(store::Transaction& transaction, const std::string& search_id,
                                                          const std::string& why) override;

 private:
  absl::StatusOr<std::vector<Task>> ClaimAlike(store::Transaction& transaction, const std::vector<Claimant>& claimants);

  const QueueSettings settings_;
  QueueCounters counters_;
  std::atomic<bool> new_work_held_{false};
};

}  // namespace warpsmith::queue

#endif  // WARPSMITH_COORDINATOR_QUEUE_POSTGRES_TASK_QUEUE_H_
