// A batch for people: its problems, what they cost, and KernelBench's fast_p over all of them.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_API_BATCH_VIEW_H_
#define WARPSMITH_COORDINATOR_API_BATCH_VIEW_H_

#include <string>
#include <vector>

#include "coordinator/batch/batch_records.h"

namespace warpsmith::api {

// With problems: each with its cost. Without: the batch's cost in dollars only.
absl::StatusOr<v1::Batch> ViewBatch(store::Transaction& transaction, const std::string& batch_id, bool with_problems);

// Counts, fast_p and the mean of ratios; not the usage.
v1::BatchTotals Summarize(const google::protobuf::RepeatedPtrField<v1::BatchProblem>& problems);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_BATCH_VIEW_H_
