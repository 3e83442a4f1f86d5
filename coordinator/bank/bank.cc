#include "coordinator/bank/bank.h"

#include <algorithm>

#include "coordinator/bank/admission.h"
#include "coordinator/bank/seeds.h"
#include "coordinator/bank/verification.h"
#include "coordinator/store/blob_store.h"

namespace warpsmith::bank {
namespace {

constexpr size_t kSeeds = 5;

}  // namespace

absl::Status RefreshSeeds(store::Transaction& transaction, const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, search_id));
  // "other" is no family: its kernels have nothing in common.
  if (search.strategy == kVerifyStrategy || search.operator_family.empty() || search.operator_family == "other") {
    return absl::OkStatus();
  }
  const std::vector<int> accepted = AcceptedOf(search.settings);
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet rows,
      transaction.Execute("kernel_neighbours", {search.operator_family, search.device_class, search.emulated,
                                                search.problem_id, accepted.back(), search.settings.frozen_weights()}));
  std::vector<Neighbour> neighbours;
  for (const store::Row row : rows) {
    Neighbour& neighbour = neighbours.emplace_back();
    neighbour.kernel_id = row.Text("id");
    neighbour.problem_id = row.Text("problem_id");
    neighbour.signature.ParseFromString(row.Blob("signature"));
    neighbour.log_ratio = row.Double("log_ratio");
    neighbour.trusted = row.Text("state") == "trusted";
  }
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_seed_clear", {search_id}).status());
  int position = 0;
  for (const Neighbour& seed : ChooseSeeds(search.problem_id, search.signature, std::move(neighbours), kSeeds)) {
    WARPSMITH_RETURN_IF_ERROR(
        transaction.Execute("search_seed_insert", {search_id, position++, seed.kernel_id}).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Seeds(store::Transaction& transaction, const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("search_seed_of", {search_id, static_cast<int>(kSeeds)}));
  std::vector<std::string> seeds;
  for (const store::Row row : rows) seeds.push_back(row.Text("candidate_id"));
  return seeds;
}

absl::StatusOr<std::vector<v1::BankPattern>> Patterns(store::Transaction& transaction,
                                                      const store::SearchRecord& search, int limit) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("search_seed_of", {search.id, limit}));
  std::vector<v1::BankPattern> patterns;
  for (const store::Row row : rows) {
    v1::BankPattern& pattern = patterns.emplace_back();
    pattern.set_title(row.Text("idea_title"));
    pattern.set_category(row.Text("category"));
    pattern.set_problem_name(row.Text("problem_name"));
    pattern.set_ratio_to_eager(row.Double("ratio_to_eager"));
    WARPSMITH_ASSIGN_OR_RETURN(*pattern.mutable_source(), store::GetBlob(transaction, row.Text("source_sha256")));
  }
  return patterns;
}

absl::StatusOr<Incumbent> FindIncumbent(store::Transaction& transaction, const store::SearchRecord& search,
                                        const std::string& candidate_id) {
  // A verification takes a kernel's own figures; it has no rival.
  if (search.strategy == kVerifyStrategy) return Incumbent();
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet champion,
      transaction.Execute("kernel_incumbent",
                          {search.problem_id, search.device_class, search.emulated, AcceptedOf(search.settings).back(),
                           search.settings.frozen_weights(), candidate_id}));
  if (!champion.empty()) return Incumbent{champion[0].Text("source_sha256"), champion[0].Double("median_ms")};
  if (search.best_candidate_id.empty() || search.best_candidate_id == candidate_id) return Incumbent();
  WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord best,
                             store::GetCandidate(transaction, search.best_candidate_id));
  return Incumbent{best.source_sha256, search.best_ms};
}

}  // namespace warpsmith::bank
