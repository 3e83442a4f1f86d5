// The queue's second half: what is done for many workers at once.
#include <algorithm>
#include <map>

#include "coordinator/queue/postgres_task_queue.h"
#include "coordinator/queue/task_row.h"

namespace warpsmith::queue {
namespace {

// So many more than are wanted are looked at, for those whose problem is at some device already.
constexpr int kLineAtLeast = 256;

}  // namespace

absl::StatusOr<std::vector<Task>> PostgresTaskQueue::ClaimAlike(store::Transaction& transaction,
                                                                const std::vector<Claimant>& claimants) {
  int wanted = 0;
  for (const Claimant& claimant : claimants) wanted += claimant.free;
  const Placement& placement = claimants.front().placement;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet waiting,
                             transaction.Execute("task_line", {placement.device_class, placement.memory_bytes,
                                                               std::max(kLineAtLeast, 2 * wanted),
                                                               new_work_held_.load(), settings_.elsewhere_seconds}));
  std::vector<WaitingTask> line;
  line.reserve(waiting.size());
  for (const store::Row row : waiting) {
    line.push_back({row.Int("id"), static_cast<int>(row.Int("priority")), row.Int("run_at_us"), row.Text("problem_id"),
                    row.Text("failed_at")});
  }
  std::vector<Pair> pairs = PairTasks(line, claimants, settings_.affinity_seconds);
  if (pairs.empty()) return std::vector<Task>();
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.task_id < b.task_id; });
  std::vector<int64_t> ids;
  std::vector<std::string> workers, boots;
  for (const Pair& pair : pairs) {
    ids.push_back(pair.task_id);
    workers.push_back(claimants[pair.claimant].owner.worker_id);
    boots.push_back(claimants[pair.claimant].owner.boot_id);
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("task_claim_chosen", {ids, workers, boots, settings_.lease_seconds}));
  return WorkFromRows(rows);
}

absl::StatusOr<std::vector<Task>> PostgresTaskQueue::ClaimForMany(store::Transaction& transaction,
                                                                  const std::vector<Claimant>& claimants) {
  std::map<std::pair<std::string, int64_t>, std::vector<Claimant>> alike;
  for (const Claimant& claimant : claimants) {
    if (claimant.free <= 0) continue;
    alike[{claimant.placement.device_class, claimant.placement.memory_bytes}].push_back(claimant);
  }
  std::vector<Task> tasks;
  for (const auto& [kind, group] : alike) {
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<Task> claimed, ClaimAlike(transaction, group));
    tasks.insert(tasks.end(), claimed.begin(), claimed.end());
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const Task& a, const Task& b) { return std::pair(a.priority, a.id) < std::pair(b.priority, b.id); });
  return tasks;
}

absl::StatusOr<std::vector<OwnedKey>> PostgresTaskQueue::RenewMany(store::Transaction& transaction,
                                                                   const std::vector<OwnedKeys>& held) {
  std::vector<std::string> workers, boots;
  std::vector<int64_t> ids, epochs;
  std::vector<std::pair<TaskKey, const Owner*>> ordered;
  for (const OwnedKeys& owned : held) {
    for (const TaskKey& key : owned.keys) ordered.emplace_back(key, &owned.owner);
  }
  std::sort(ordered.begin(), ordered.end());
  for (const auto& [key, owner] : ordered) {
    workers.push_back(owner->worker_id);
    boots.push_back(owner->boot_id);
    ids.push_back(key.id);
    epochs.push_back(key.epoch);
  }
  std::vector<OwnedKey> kept;
  if (ids.empty()) return kept;
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet rows,
      transaction.Execute("task_renew_many", {workers, boots, ids, epochs, settings_.lease_seconds}));
  for (const store::Row row : rows) kept.push_back({row.Text("owner_worker"), {row.Int("id"), row.Int("epoch")}});
  return kept;
}

}  // namespace warpsmith::queue
