// Assignments for many leased tasks at once. What all of a search's evaluations have in common (the problem's
// signature, its baselines, what is accepted) is read once and kept for a while. Threading: one thread.
#ifndef WARPSMITH_COORDINATOR_ENGINE_ASSIGNMENT_MAKER_H_
#define WARPSMITH_COORDINATOR_ENGINE_ASSIGNMENT_MAKER_H_

#include <map>
#include <string>
#include <vector>

#include "common/clock.h"
#include "coordinator/queue/task.h"
#include "coordinator/store/database.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::engine {

class AssignmentMaker {
 public:
  explicit AssignmentMaker(Clock& clock) : clock_(clock) {}

  // One for each task, in their order; an error says why that task cannot be handed out. Unavailable: the database is
  // away, for all of them.
  absl::StatusOr<std::vector<absl::StatusOr<v1::Assignment>>> Make(store::Transaction& transaction,
                                                                   const std::vector<queue::Task>& tasks);

 private:
  struct Common {
    v1::Assignment assignment;
    TimePoint until{};
  };

  absl::StatusOr<const v1::Assignment*> CommonOf(store::Transaction& transaction, const queue::Task& task);

  Clock& clock_;
  std::map<std::string, Common> common_;  // by search
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_ASSIGNMENT_MAKER_H_
