// What a batch's limit of GPU time leaves to each of its searches, looked at before evaluations are ordered.
// Threading: pure functions over a transaction. Units: seconds.
#ifndef WARPSMITH_COORDINATOR_ENGINE_BATCH_SHARE_H_
#define WARPSMITH_COORDINATOR_ENGINE_BATCH_SHARE_H_

#include <string>

#include "coordinator/search/strategy.h"
#include "coordinator/store/records.h"

namespace warpsmith::engine {

struct GpuUse {
  double used = 0;
  double mean = 0;  // of an evaluation; 0: none has ended
  int open = 0;     // evaluations under way or ordered

  // How many more fit below `most`. Until one has ended nothing is known of what they take: a few are let go.
  int Room(double most) const;
  // Not even one more fits, whatever comes of those under way.
  bool Spent(double most) const { return used >= most || used + mean > most; }
};

// Evaluations that a search of the batch may order now; without a limit, any number. Until the transaction's end nobody
// else of the batch is told anything: what is ordered is seen by the next who asks.
absl::StatusOr<int> GpuRoom(store::Transaction& transaction, const std::string& batch_id);

absl::StatusOr<GpuUse> GetGpuUse(store::Transaction& transaction, const std::string& batch_id);

// Limits the evaluations of a search whose batch has a limit, and says in the snapshot where none can be had any more.
absl::StatusOr<search::Capacity> ShareGpuTime(store::Transaction& transaction, const store::SearchRecord& record,
                                              search::Snapshot* snapshot);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_BATCH_SHARE_H_
