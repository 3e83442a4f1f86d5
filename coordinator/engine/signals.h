// How the coordinator's parts wake each other. Called after a commit, from any thread; implementations only note it.
#ifndef WARPSMITH_COORDINATOR_ENGINE_SIGNALS_H_
#define WARPSMITH_COORDINATOR_ENGINE_SIGNALS_H_

#include <string>
#include <vector>

#include "coordinator/queue/task_queue.h"

namespace warpsmith::engine {

class Signals {
 public:
  virtual ~Signals() = default;
  virtual void SearchChanged(const std::string& search_id) = 0;
  virtual void TasksAdded() = 0;
  virtual void TasksCancelled(const std::vector<queue::CancelledTask>& tasks) = 0;
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_SIGNALS_H_
