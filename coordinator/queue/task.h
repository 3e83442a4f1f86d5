// A unit of work and who holds it.
// Threading: plain data. Units: seconds.
#ifndef WARPSMITH_COORDINATOR_QUEUE_TASK_H_
#define WARPSMITH_COORDINATOR_QUEUE_TASK_H_

#include <cstdint>
#include <string>
#include <utility>
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
  int attempt = 0;           // repair; propose: the island, 0: none
  std::string stage;         // evaluate: measure, confirm; propose: calls with the same one wait for one another
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
  std::string problem_id;
};

// What can run where, and what a device was at last. Bytes.
struct Placement {
  Placement(std::string wanted_class) : device_class(std::move(wanted_class)) {}  // NOLINT(google-explicit-constructor)
  Placement(const char* wanted_class) : device_class(wanted_class) {}             // NOLINT(google-explicit-constructor)
  Placement(std::string wanted_class, int64_t memory, std::string last_problem)
      : device_class(std::move(wanted_class)), memory_bytes(memory), problem_id(std::move(last_problem)) {}

  std::string device_class;
  int64_t memory_bytes = 0;  // 0: not known, everything fits
  std::string problem_id;    // its tasks go before others of about the same age; empty: none
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
