// What other searches have tried on the same problem and kind of device, for the models that propose ideas.
// Threading: pure functions over a transaction. Errors: the database's.
#ifndef WARPSMITH_COORDINATOR_ENGINE_PROBLEM_HISTORY_H_
#define WARPSMITH_COORDINATOR_ENGINE_PROBLEM_HISTORY_H_

#include <string>

#include "coordinator/store/records.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::engine {

// Adds ideas of which something came, the newest search's last; those of no more than `most` with title, category and
// what became of them, the rest as tried_left_out.
absl::Status AddEarlierSearches(store::Transaction& transaction, const store::SearchRecord& search,
                                v1::ProposeIdeasRequest* request, int most = 1000);

// What became of an idea: the time of its best implementation, or why most of them failed, `message` being one of
// these. A failure class is an outcome's or a reply's name; empty: none failed.
void SetFate(double best_ms, double parent_ms, const std::string& failure, const std::string& message,
             v1::TriedIdea* tried);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_PROBLEM_HISTORY_H_
