#include "coordinator/queue/postgres_task_queue.h"

#include <algorithm>
#include <set>

#include "coordinator/queue/task_row.h"
#include "coordinator/store/text.h"

namespace warpsmith::queue {
namespace {

constexpr const char* kKindNames[] = {"intake", "propose", "implement", "repair", "evaluate"};
constexpr const char* kStateNames[] = {"available", "running", "done", "quarantined", "cancelled"};

void Split(const std::vector<TaskKey>& keys, std::vector<int64_t>* ids, std::vector<int64_t>* epochs) {
  for (const TaskKey& key : keys) {
    ids->push_back(key.id);
    epochs->push_back(key.epoch);
  }
}

int64_t CountQuarantined(const std::vector<Task>& tasks) {
  return std::count_if(tasks.begin(), tasks.end(),
                       [](const Task& task) { return task.state == TaskState::kQuarantined; });
}

}  // namespace

std::string TaskKindName(TaskKind kind) { return kKindNames[static_cast<int>(kind)]; }
TaskKind ParseTaskKind(const std::string& name) {
  const auto* found = std::find(std::begin(kKindNames), std::end(kKindNames), name);
  return found == std::end(kKindNames) ? TaskKind::kEvaluate : static_cast<TaskKind>(found - std::begin(kKindNames));
}
TaskState ParseTaskState(const std::string& name) {
  const auto* found = std::find(std::begin(kStateNames), std::end(kStateNames), name);
  return found == std::end(kStateNames) ? TaskState::kCancelled
                                        : static_cast<TaskState>(found - std::begin(kStateNames));
}

absl::StatusOr<int64_t> PostgresTaskQueue::Put(store::Transaction& transaction, const TaskSpec& spec) {
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet rows,
      transaction.Execute(
          "task_insert", {TaskKindName(spec.kind), spec.dedupe_key, spec.search_id, spec.idea_id, spec.parent_id,
                          spec.candidate_id, spec.round, spec.wanted, spec.indexes, spec.attempt, spec.stage, spec.seed,
                          spec.device_class, spec.priority, spec.max_failures, spec.deadline_seconds}));
  return rows.empty() ? 0 : rows[0].Int("id");
}

absl::StatusOr<std::vector<Task>> PostgresTaskQueue::Claim(store::Transaction& transaction, const Owner& owner,
                                                           const std::vector<TaskKind>& kinds,
                                                           const Placement& placement, int limit) {
  std::vector<std::string> calls;
  for (TaskKind kind : kinds) {
    if (kind != TaskKind::kIntake && kind != TaskKind::kEvaluate) calls.push_back(TaskKindName(kind));
  }
  if (!calls.empty() && new_work_held_) return std::vector<Task>();
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet rows,
      calls.empty()
          ? transaction.Execute(
                "task_claim_work",
                {placement.device_class, placement.memory_bytes, limit, owner.worker_id, owner.boot_id,
                 settings_.lease_seconds, placement.problem_id, settings_.affinity_seconds, new_work_held_.load()})
          : transaction.Execute("task_claim", {calls, limit, owner.worker_id, owner.boot_id, settings_.lease_seconds}));
  std::vector<Task> tasks = TasksFromRows(rows);
  std::sort(tasks.begin(), tasks.end(),
            [](const Task& a, const Task& b) { return std::pair(a.priority, a.id) < std::pair(b.priority, b.id); });
  return tasks;
}

absl::StatusOr<std::vector<TaskKey>> PostgresTaskQueue::Renew(store::Transaction& transaction, const Owner& owner,
                                                              const std::vector<TaskKey>& held) {
  std::vector<int64_t> ids, epochs;
  Split(held, &ids, &epochs);
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet rows,
      transaction.Execute("task_renew", {owner.worker_id, owner.boot_id, ids, epochs, settings_.lease_seconds}));
  std::vector<TaskKey> kept;
  for (const store::Row row : rows) kept.push_back({row.Int("id"), row.Int("epoch")});
  return kept;
}

absl::StatusOr<std::vector<TaskKey>> PostgresTaskQueue::Adopt(store::Transaction& transaction, const Owner& owner,
                                                              const std::vector<TaskKey>& finished) {
  std::vector<TaskKey> adopted;
  if (finished.empty()) return adopted;
  std::vector<int64_t> ids, epochs;
  Split(finished, &ids, &epochs);
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet rows,
      transaction.Execute("task_adopt", {owner.worker_id, owner.boot_id, ids, epochs, settings_.lease_seconds}));
  for (const store::Row row : rows) adopted.push_back({row.Int("id"), row.Int("epoch")});
  return adopted;
}

absl::StatusOr<std::vector<Task>> PostgresTaskQueue::Complete(store::Transaction& transaction,
                                                              const std::vector<Completion>& completions) {
  std::vector<int64_t> ids, epochs;
  std::vector<std::string> results;
  // Rows are changed in the order of their ids, here and where leases are renewed meanwhile.
  std::vector<const Completion*> ordered;
  for (const Completion& completion : completions) ordered.push_back(&completion);
  std::sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  for (const Completion* completion : ordered) {
    ids.push_back(completion->key.id);
    epochs.push_back(completion->key.epoch);
    results.push_back(store::CleanLine(completion->result, 200));
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("task_complete", {ids, epochs, results}));
  counters_.completions += static_cast<int64_t>(rows.size());
  counters_.stale_completions += static_cast<int64_t>(completions.size() - rows.size());
  return WorkFromRows(rows);
}

absl::StatusOr<std::vector<TaskKey>> PostgresTaskQueue::AlreadyDone(store::Transaction& transaction,
                                                                    const std::vector<TaskKey>& keys) {
  std::vector<int64_t> ids, epochs;
  Split(keys, &ids, &epochs);
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("task_states", {ids}));
  const std::set<TaskKey> asked(keys.begin(), keys.end());
  std::vector<TaskKey> done;
  for (const store::Row row : rows) {
    const TaskKey key{row.Int("id"), row.Int("epoch")};
    if (row.Text("state") == "done" && asked.contains(key)) done.push_back(key);
  }
  return done;
}

absl::StatusOr<std::vector<Task>> PostgresTaskQueue::Fail(store::Transaction& transaction, const TaskKey& key,
                                                          const std::string& error) {
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet rows,
      transaction.Execute("task_fail", {key.id, key.epoch, store::CleanText(error, 2000), settings_.retry_seconds}));
  std::vector<Task> tasks = TasksFromRows(rows);
  if (tasks.empty()) ++counters_.stale_completions;
  counters_.quarantined += CountQuarantined(tasks);
  return tasks;
}

absl::Status PostgresTaskQueue::Release(store::Transaction& transaction, const std::vector<TaskKey>& keys,
                                        double delay_seconds, const std::string& why) {
  std::vector<int64_t> ids, epochs;
  Split(keys, &ids, &epochs);
  return transaction.Execute("task_release", {ids, epochs, delay_seconds, store::CleanText(why, 2000)}).status();
}

absl::StatusOr<std::vector<Task>> PostgresTaskQueue::Rescue(store::Transaction& transaction) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("task_rescue", {settings_.max_worker_deaths}));
  for (const store::Row row : rows) ++(row.Bool("died") ? counters_.rescued_leases : counters_.rescued_deadlines);
  std::vector<Task> tasks = TasksFromRows(rows);
  counters_.quarantined += CountQuarantined(tasks);
  return tasks;
}

absl::StatusOr<std::vector<Task>> PostgresTaskQueue::FreeOtherBoots(store::Transaction& transaction, const Owner& owner,
                                                                    bool died) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("task_free_boot", {owner.worker_id, owner.boot_id, died ? 1 : 0,
                                                                    settings_.max_worker_deaths}));
  std::vector<Task> tasks = TasksFromRows(rows);
  counters_.quarantined += CountQuarantined(tasks);
  return tasks;
}

absl::StatusOr<std::vector<CancelledTask>> PostgresTaskQueue::CancelSearch(store::Transaction& transaction,
                                                                           const std::string& search_id,
                                                                           const std::string& why) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("task_cancel_search", {search_id, why}));
  std::vector<CancelledTask> cancelled;
  for (const store::Row row : rows) {
    cancelled.push_back({{row.Int("id"), row.Int("epoch")}, row.Text("owner_worker"), ParseTaskKind(row.Text("kind"))});
  }
  return cancelled;
}

}  // namespace warpsmith::queue
