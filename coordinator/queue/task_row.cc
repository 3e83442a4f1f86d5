#include "coordinator/queue/task_row.h"

namespace warpsmith::queue {

Task TaskFromRow(const store::Row& row) {
  Task task;
  task.id = row.Int("id");
  task.kind = ParseTaskKind(row.Text("kind"));
  task.dedupe_key = row.Text("dedupe_key");
  task.search_id = row.Text("search_id");
  task.idea_id = row.Text("idea_id");
  task.parent_id = row.Text("parent_id");
  task.candidate_id = row.Text("candidate_id");
  task.round = static_cast<int>(row.Int("round"));
  task.wanted = static_cast<int>(row.Int("wanted"));
  task.indexes = row.Ints("indexes");
  task.attempt = static_cast<int>(row.Int("attempt"));
  task.stage = row.Text("stage");
  task.seed = row.Int("seed");
  task.device_class = row.Text("device_class");
  task.priority = static_cast<int>(row.Int("priority"));
  task.max_failures = static_cast<int>(row.Int("max_failures"));
  task.deadline_seconds = row.Double("deadline_seconds");
  task.epoch = row.Int("epoch");
  task.state = ParseTaskState(row.Text("state"));
  task.attempts = static_cast<int>(row.Int("attempts"));
  task.failures = static_cast<int>(row.Int("failures"));
  task.worker_deaths = static_cast<int>(row.Int("worker_deaths"));
  task.owner_worker = row.Text("owner_worker");
  task.owner_boot = row.Text("owner_boot");
  task.result = row.Text("result");
  task.last_error = row.Text("last_error");
  task.problem_id = row.Text("problem_id");
  return task;
}

std::vector<Task> WorkFromRows(const store::ResultSet& rows) {
  std::vector<Task> tasks;
  tasks.reserve(rows.size());
  for (const store::Row row : rows) {
    Task& task = tasks.emplace_back();
    task.id = row.Int("id");
    task.epoch = row.Int("epoch");
    task.kind = ParseTaskKind(row.Text("kind"));
    task.state = ParseTaskState(row.Text("state"));
    task.search_id = row.Text("search_id");
    task.candidate_id = row.Text("candidate_id");
    task.round = static_cast<int>(row.Int("round"));
    task.stage = row.Text("stage");
    task.seed = row.Int("seed");
    task.priority = static_cast<int>(row.Int("priority"));
    task.device_class = row.Text("device_class");
    task.deadline_seconds = row.Double("deadline_seconds");
    task.owner_worker = row.Text("owner_worker");
    task.owner_boot = row.Text("owner_boot");
    task.problem_id = row.Text("problem_id");
  }
  return tasks;
}

std::vector<Task> TasksFromRows(const store::ResultSet& rows) {
  std::vector<Task> tasks;
  tasks.reserve(rows.size());
  for (const store::Row row : rows) tasks.push_back(TaskFromRow(row));
  return tasks;
}

}  // namespace warpsmith::queue
