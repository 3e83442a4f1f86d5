// A queue on a database of its own, and two who work at it.
// Threading: one thread, but where a test says otherwise.
#ifndef WARPSMITH_TESTS_COORDINATOR_QUEUE_FIXTURE_H_
#define WARPSMITH_TESTS_COORDINATOR_QUEUE_FIXTURE_H_

#include <string>
#include <vector>

#include "coordinator/queue/postgres_task_queue.h"
#include "tests/coordinator/database_fixture.h"

namespace warpsmith::queue {

inline const Owner kAlice{"alice", "boot1"};
inline const Owner kBob{"bob", "boot1"};

struct QueueFixture : testing::DatabaseFixture {
  explicit QueueFixture(QueueSettings settings = {}) : queue(settings) {}

  int64_t Put(const std::string& key, TaskSpec spec = {}) {
    spec.dedupe_key = key;
    spec.search_id = spec.search_id.empty() ? "s" : spec.search_id;
    return Run<int64_t>([&](store::Transaction& transaction) { return queue.Put(transaction, spec); });
  }
  std::vector<Task> Claim(const Owner& owner, int limit = 10, const std::string& device_class = "emulated") {
    return Run<std::vector<Task>>([&](store::Transaction& transaction) {
      return queue.Claim(transaction, owner, {TaskKind::kEvaluate, TaskKind::kIntake}, device_class, limit);
    });
  }
  std::vector<Task> Complete(std::vector<Completion> completions) {
    return Run<std::vector<Task>>(
        [&](store::Transaction& transaction) { return queue.Complete(transaction, completions); });
  }
  std::vector<Task> Rescue() {
    return Run<std::vector<Task>>([&](store::Transaction& transaction) { return queue.Rescue(transaction); });
  }
  std::vector<Task> Fail(const TaskKey& key) {
    return Run<std::vector<Task>>(
        [&](store::Transaction& transaction) { return queue.Fail(transaction, key, "broken"); });
  }
  std::vector<TaskKey> Renew(const Owner& owner, const std::vector<TaskKey>& keys) {
    return Run<std::vector<TaskKey>>(
        [&](store::Transaction& transaction) { return queue.Renew(transaction, owner, keys); });
  }
  void ExpireLeases() { Query("UPDATE task SET lease_until = now() - interval '1 s' WHERE state = 'running'"); }
  void ExpireDeadlines() { Query("UPDATE task SET deadline = now() - interval '1 s' WHERE state = 'running'"); }
  std::string State(int64_t id) { return Query("SELECT state FROM task WHERE id = " + std::to_string(id)); }

  PostgresTaskQueue queue;
};

inline TaskKey KeyOf(const Task& task) { return {task.id, task.epoch}; }

}  // namespace warpsmith::queue

#endif  // WARPSMITH_TESTS_COORDINATOR_QUEUE_FIXTURE_H_
