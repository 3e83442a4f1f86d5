// The operator's messages out of the database: searches, trees, candidates; ids by prefix.
// Threading: pure functions over a transaction. Errors: NotFound and InvalidArgument name the id or field and the
// remedy.
#ifndef WARPSMITH_COORDINATOR_API_SEARCH_VIEW_H_
#define WARPSMITH_COORDINATOR_API_SEARCH_VIEW_H_

#include <string>

#include "coordinator/store/records.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::api {

// Whole ids or prefixes of at least 6 characters that only one has.
absl::StatusOr<std::string> ResolveSearch(store::Transaction& transaction, const std::string& prefix);
absl::StatusOr<std::string> ResolveCandidate(store::Transaction& transaction, const std::string& prefix);

absl::StatusOr<v1::Search> ViewSearch(store::Transaction& transaction, const std::string& search_id, bool with_source);
absl::StatusOr<v1::Tree> ViewTree(store::Transaction& transaction, const std::string& search_id);
absl::StatusOr<v1::Candidate> ViewCandidate(store::Transaction& transaction, const std::string& candidate_id);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_SEARCH_VIEW_H_
