// Reads the snapshot on which a strategy decides.
// Threading: a pure function over a transaction.
#ifndef WARPSMITH_COORDINATOR_ENGINE_SNAPSHOT_BUILDER_H_
#define WARPSMITH_COORDINATOR_ENGINE_SNAPSHOT_BUILDER_H_

#include "coordinator/search/snapshot.h"
#include "coordinator/store/records.h"

namespace warpsmith::engine {

absl::StatusOr<search::Snapshot> BuildSnapshot(store::Transaction& transaction, const store::SearchRecord& record);

// How near an evaluation comes to what the device allows; 0: not known. Arithmetic that the algorithm as written does
// not need to do is no limit: a kernel that does with less of it is measured by its bytes.
double RooflineShare(const v1::Evaluation& evaluation);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_SNAPSHOT_BUILDER_H_
