// Why a search is not getting better: the funnel, failures by class, noise, what it waits for, and plain sentences.
// Threading: a pure function over a transaction.
#ifndef WARPSMITH_COORDINATOR_API_EXPLANATION_H_
#define WARPSMITH_COORDINATOR_API_EXPLANATION_H_

#include <string>

#include "coordinator/engine/settings.h"
#include "coordinator/store/database.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::api {

// `day`: the UTC date, for its budget.
absl::StatusOr<v1::Explanation> Explain(store::Transaction& transaction, const std::string& search_id,
                                        const engine::EngineSettings& settings, const std::string& day);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_EXPLANATION_H_
