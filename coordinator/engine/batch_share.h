// What a batch's limit of GPU time leaves to each of its searches, looked at before evaluations are ordered.
// Threading: pure functions over a transaction. Units: seconds.
#ifndef WARPSMITH_COORDINATOR_ENGINE_BATCH_SHARE_H_
#define WARPSMITH_COORDINATOR_ENGINE_BATCH_SHARE_H_

#include <string>

#include "coordinator/search/strategy.h"
#include "coordinator/store/records.h"

namespace warpsmith::engine {

// What is used for good and what is set aside: for an evaluation the longest that its search has seen, or, where it has
// seen none, the longest of the batch. Only one that takes longer than all before it can overrun a limit.
struct GpuUse {
  double used = 0;
  double set_aside = 0;  // for those under way or ordered
  double each = 0;       // for one more of the search that asks; 0: none of the batch has ended
  double shortest = 0;   // for one more of the search that needs least
  int open = 0;          // evaluations under way or ordered

  // How many more of the search that asks fit below `most`. Until one of the batch has ended nothing is known of what
  // they take: a few are let go.
  int Room(double most) const;
  // Not even one more fits, whatever comes of those under way.
  bool Spent(double most) const { return used >= most || used + each > most; }
  // The same for any search of the batch.
  bool SpentForAll(double most) const { return used >= most || used + shortest > most; }
  bool FullForAll(double most) const { return shortest > 0 && used + set_aside + shortest > most; }
};

// Evaluations that a search of the batch may order now; without a limit, any number. Until the transaction's end nobody
// else of the batch is told anything: what is ordered is seen by the next who asks.
absl::StatusOr<int> GpuRoom(store::Transaction& transaction, const std::string& batch_id, const std::string& search_id);

// `search_id` empty: nobody in particular asks.
absl::StatusOr<GpuUse> GetGpuUse(store::Transaction& transaction, const std::string& batch_id,
                                 const std::string& search_id);

// Limits the evaluations of a search whose batch has a limit, and says in the snapshot where none can be had any more.
// `to_look`: nothing will be ordered in this transaction, which may not write.
absl::StatusOr<search::Capacity> ShareGpuTime(store::Transaction& transaction, const store::SearchRecord& record,
                                              bool to_look, search::Snapshot* snapshot);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_BATCH_SHARE_H_
