// Turns a leased task into the message that a worker gets.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_ENGINE_ASSIGNMENTS_H_
#define WARPSMITH_COORDINATOR_ENGINE_ASSIGNMENTS_H_

#include "coordinator/queue/task.h"
#include "coordinator/store/database.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::engine {

absl::StatusOr<v1::Assignment> MakeAssignment(store::Transaction& transaction, const queue::Task& task);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_ASSIGNMENTS_H_
