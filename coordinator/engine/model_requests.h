// Makes the gateway's requests out of the tree: problem, device, parent, every idea tried so far.
// Threading: pure functions over a transaction. Errors: NotFound where the tree lacks what the task names.
#ifndef WARPSMITH_COORDINATOR_ENGINE_MODEL_REQUESTS_H_
#define WARPSMITH_COORDINATOR_ENGINE_MODEL_REQUESTS_H_

#include <string>

#include "coordinator/queue/task.h"
#include "coordinator/store/records.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::engine {

// The same key for a call that is repeated after a crash or a lost connection; a new one after an ordinary failure.
std::string IdempotencyKey(const queue::Task& task);

// With every idea of the search, after those of other searches on the same problem and kind of device.
absl::StatusOr<v1::ProposeIdeasRequest> MakeProposeRequest(store::Transaction& transaction,
                                                           const store::SearchRecord& search, const queue::Task& task);
// Leaves out the ideas that a model is not to be told of: with `best_of_n` all of them; with `evolve` other islands',
// but for those for the same kernel and an operator's.
void KeepOwnHistory(const store::SearchRecord& search, const queue::Task& task, v1::ProposeIdeasRequest* request);
// Without the indexes that have arrived already: empty indexes mean that nothing is left to ask for.
absl::StatusOr<v1::ImplementIdeaRequest> MakeImplementRequest(store::Transaction& transaction,
                                                              const store::SearchRecord& search,
                                                              const queue::Task& task);
absl::StatusOr<v1::RepairRequest> MakeRepairRequest(store::Transaction& transaction, const store::SearchRecord& search,
                                                    const queue::Task& task);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_MODEL_REQUESTS_H_
