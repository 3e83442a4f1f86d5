// Reads the snapshot on which a strategy decides.
// Threading: a pure function over a transaction.
#ifndef WARPSMITH_COORDINATOR_ENGINE_SNAPSHOT_BUILDER_H_
#define WARPSMITH_COORDINATOR_ENGINE_SNAPSHOT_BUILDER_H_

#include "coordinator/queue/task_queue.h"
#include "coordinator/search/snapshot.h"
#include "coordinator/store/records.h"

namespace warpsmith::engine {

absl::StatusOr<search::Snapshot> BuildSnapshot(store::Transaction& transaction, queue::TaskQueue& queue,
                                               const store::SearchRecord& record);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_SNAPSHOT_BUILDER_H_
