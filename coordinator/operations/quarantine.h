// Tasks that were given up: what they are, and another try with a clean slate.
// Threading: stateless; List works in the caller's transaction, Retry runs one a task. Errors: NotFound and
// InvalidArgument name the remedy.
#ifndef WARPSMITH_COORDINATOR_OPERATIONS_QUARANTINE_H_
#define WARPSMITH_COORDINATOR_OPERATIONS_QUARANTINE_H_

#include <string>
#include <vector>

#include "coordinator/store/database.h"
#include "warpsmith/v1/administration.pb.h"

namespace warpsmith::operations {

absl::StatusOr<v1::ListQuarantinedReply> ListQuarantined(store::Transaction& transaction, const std::string& search_id,
                                                         int limit);

// Puts each back into the queue, with what giving it up had done undone: its candidate waits for a verdict again, a
// search that failed for want of an intake is taken in again. Tasks of searches that have ended otherwise are skipped,
// with the reason. `changed` gets the searches concerned.
absl::StatusOr<v1::RetryQuarantinedReply> RetryQuarantined(store::Database& database,
                                                           const v1::RetryQuarantinedRequest& request,
                                                           std::vector<std::string>* changed);

}  // namespace warpsmith::operations

#endif  // WARPSMITH_COORDINATOR_OPERATIONS_QUARANTINE_H_
