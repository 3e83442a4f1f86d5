// What an export has of a search and of its candidates, out of the database.
// Threading: pure functions over a transaction. Errors: NotFound and InvalidArgument name the id or field and the
// remedy.
#ifndef WARPSMITH_COORDINATOR_API_EXPORT_VIEW_H_
#define WARPSMITH_COORDINATOR_API_EXPORT_VIEW_H_

#include <string>
#include <vector>

#include "coordinator/store/database.h"
#include "warpsmith/v1/export.pb.h"

namespace warpsmith::api {

// What a selection means: searches, or kernels of the bank.
struct Selected {
  std::vector<std::string> search_ids;
  std::vector<std::string> kernel_ids;
};

// `what` is "bank", or a search's or batch's id or a prefix of one. A batch's retried problems stand once.
absl::StatusOr<Selected> Select(store::Transaction& transaction, const v1::ExportSelection& selection);

// The search's problem with its best kernel, where it has one.
absl::StatusOr<v1::ExportedProblem> ViewExportedProblem(store::Transaction& transaction, const std::string& search_id,
                                                        int64_t now_us);
absl::StatusOr<v1::ExportedProblem> ViewExportedKernel(store::Transaction& transaction, const std::string& kernel_id);

absl::StatusOr<v1::ExportedSearch> ViewExportedSearch(store::Transaction& transaction, const std::string& search_id);
// Ids of the candidates to list, in the order of ListCandidates.
absl::StatusOr<std::vector<std::string>> ExportedCandidates(store::Transaction& transaction,
                                                            const std::string& search_id);
absl::StatusOr<v1::ExportedCandidate> ViewExportedCandidate(store::Transaction& transaction,
                                                            const std::string& candidate_id);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_EXPORT_VIEW_H_
