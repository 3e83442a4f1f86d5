#include "coordinator/bank/bank.h"

#include <map>

#include "coordinator/store/blob_store.h"
#include "coordinator/store/text.h"

namespace warpsmith::bank {
namespace {

absl::StatusOr<std::vector<v1::BankKernel>> ListOnly(store::Transaction& transaction,
                                                     const std::string& operator_family,
                                                     const std::string& device_class, bool emulated, int limit) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("kernel_list", {operator_family, device_class, emulated, limit}));
  std::vector<v1::BankKernel> kernels;
  for (const store::Row row : rows) {
    v1::BankKernel& kernel = kernels.emplace_back();
    kernel.set_id(row.Text("id"));
    kernel.set_candidate_id(row.Text("candidate_id"));
    kernel.set_search_id(row.Text("search_id"));
    kernel.set_problem_name(row.Text("problem_name"));
    kernel.set_problem_id(row.Text("problem_id"));
    kernel.set_operator_family(row.Text("operator_family"));
    kernel.set_device_class(row.Text("device_class"));
    kernel.set_median_ms(row.Double("median_ms"));
    kernel.set_ratio_to_eager(row.Double("ratio_to_eager"));
    kernel.set_precision_class(static_cast<v1::PrecisionClass>(row.Int("precision_class")));
    kernel.set_idea_title(row.Text("idea_title"));
    kernel.set_admitted_at_us(row.Int("admitted_us"));
    kernel.set_emulated(row.Bool("emulated"));
    kernel.set_source_sha256(row.Text("source_sha256"));
  }
  return kernels;
}

}  // namespace

absl::StatusOr<int> Admit(store::Transaction& transaction, const store::SearchRecord& search) {
  if (search.signature.degenerate()) return 0;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet bests, transaction.Execute("round_bests", {search.id}));
  std::map<std::string, std::string> chosen;  // candidate to idea title
  for (const store::Row row : bests) chosen[row.Text("id")] = row.Text("title");
  if (!search.best_candidate_id.empty()) chosen.emplace(search.best_candidate_id, "");
  int admitted = 0;
  for (auto& [id, title] : chosen) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord candidate, store::GetCandidate(transaction, id));
    if (candidate.outcome != v1::OUTCOME_OK) continue;
    if (title.empty() && !candidate.idea_id.empty()) {
      WARPSMITH_ASSIGN_OR_RETURN(const store::IdeaRecord idea, store::GetIdea(transaction, candidate.idea_id));
      title = idea.idea.title();
    }
    WARPSMITH_RETURN_IF_ERROR(
        transaction
            .Execute("kernel_insert",
                     {store::NewId(), id, search.id, search.problem_id, search.name,
                      store::CleanLine(search.operator_family, 80), search.device_class, search.emulated,
                      candidate.median_ms, candidate.ratio_to_eager, candidate.log_ratio,
                      static_cast<int>(candidate.evaluation.reached()), store::CleanLine(title, 200),
                      candidate.source_sha256, id == search.best_candidate_id})
            .status());
    ++admitted;
  }
  return admitted;
}

absl::StatusOr<std::vector<v1::BankKernel>> List(store::Transaction& transaction, const std::string& operator_family,
                                                 const std::string& device_class, int limit) {
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<v1::BankKernel> kernels,
                             ListOnly(transaction, operator_family, device_class, false, limit));
  if (!kernels.empty()) return kernels;
  return ListOnly(transaction, operator_family, device_class, true, limit);
}

absl::StatusOr<std::vector<v1::BankPattern>> Patterns(store::Transaction& transaction,
                                                      const store::SearchRecord& search, int limit) {
  std::vector<v1::BankPattern> patterns;
  // "other" is no family: its kernels have nothing in common.
  if (search.operator_family.empty() || search.operator_family == "other") return patterns;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("kernel_patterns", {search.operator_family, search.device_class,
                                                                     search.emulated, search.problem_id, limit}));
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

}  // namespace warpsmith::bank
