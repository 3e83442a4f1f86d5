// A unit of work and who holds it.
// Threading: plain data. Units: seconds.
#ifndef WARPSMITH_COORDINATOR_QUEUE_TASK_H_
#define WARPSMITH_COORDINATOR_QUEUE_TASK_H_

#include <cstdint>
#include <string>
#include <vector>

namespace warpsmith::queue {

enum class TaskKind { kIntake, kPropose, kImplement, kRepair, kEvaluate };

std::string TaskKindName(TaskKind kind);
TaskKind ParseTaskKind(const std::string& name);  // kEvaluate for a name that is none of ours

enum class TaskState { kAvailable, kRunning, kDone, kQuarantined, kCancelled };
TaskState ParseTaskState(const std::string& name);

// A new task. `dedupe_key` makes it one task however often it is put in.
struct TaskSpec {
  TaskKind kind = TaskKind::kEvaluate;
  std::string dedupe_key;
  std::string search_id;
  std::string idea_id;       // implement, repair
  std::string parent_id;     // propose, implement; empty: the module itself
  std::string candidate_id;  // repair: the failed one; evaluate
  int round = 0;
  int wanted = 1;            // propose: ideas; implement: K
  std::vector<int> indexes;  // implement
  int attempt = 0;           // repair
  std::string stage;         // evaluate: measure, confirm
  int64_t seed = 0;
  std::string device_class;  // empty: any
  int priority = 0;          // smaller first
  int max_failures = 3;      // ordinary failures until it is quarantined
  double deadline_seconds = 600;
};

struct Task : TaskSpec {
  int64_t id = 0;
  int64_t epoch = 0;  // grows at each claim; a completion must bring the current one
  TaskState state = TaskState::kAvailable;
  int attempts = 0;  // claims
  int failures = 0;
  int worker_deaths = 0;
  std::string owner_worker;
  std::string owner_boot;
  std::string result;
  std::string last_error;
};

// Who holds a lease: a worker's boot, or the coordinator's own.
struct Owner {
  std::string worker_id;
  std::string boot_id;
};

// The worker_id of tasks that the coordinator runs itself (calls to models).
inline constexpr char kCoordinatorWorker[] = "coordinator";

struct TaskKey {
  int64_t id = 0;
  int64_t epoch = 0;
  auto operator<=>(const TaskKey&) const = default;
};

}  // namespace warpsmith::queue

#endif  // WARPSMITH_COORDINATOR_QUEUE_TASK_H_
