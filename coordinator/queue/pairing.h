// Which of the tasks in line goes to which worker.
// Threading: pure functions. Units: seconds; microseconds since 1970 UTC.
#ifndef WARPSMITH_COORDINATOR_QUEUE_PAIRING_H_
#define WARPSMITH_COORDINATOR_QUEUE_PAIRING_H_

#include <string>
#include <vector>

#include "coordinator/queue/task.h"

namespace warpsmith::queue {

struct WaitingTask {
  int64_t id = 0;
  int priority = 0;
  int64_t run_at_us = 0;
  std::string problem_id;
  std::string failed_at{};  // the worker at which it failed or that died of it a moment ago; empty: none
};

// Someone who can take so many tasks.
struct Claimant {
  Owner owner;
  Placement placement;
  int free = 0;
  bool others = false;  // whether another worker of its kind is there, busy or not
};

struct Pair {
  int64_t task_id = 0;
  size_t claimant = 0;
};

// `line` is in the order of priority, age and id, and suits all claimants. Each takes one in turn until they are full
// or the line ends: the first in line, or the first of the problem that it was at last, which counts as older by
// `affinity_seconds` among equals in priority. What failed at one is left to others, where there are any.
std::vector<Pair> PairTasks(const std::vector<WaitingTask>& line, const std::vector<Claimant>& claimants,
                            double affinity_seconds);

}  // namespace warpsmith::queue

#endif  // WARPSMITH_COORDINATOR_QUEUE_PAIRING_H_
