#include "coordinator/api/export_view.h"

#include <algorithm>

#include "common/hash.h"
#include "coordinator/api/search_view.h"
#include "coordinator/bank/archive.h"
#include "coordinator/bank/bank.h"
#include "coordinator/bank/provenance.h"
#include "coordinator/bank/verification.h"
#include "coordinator/batch/batch_records.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/records.h"
#include "coordinator/store/text.h"

namespace warpsmith::api {
namespace {

constexpr size_t kTitleLength = 200;

// A worker's name and its compiler's words tell of a machine, not of a kernel.
void TakeMachineOut(v1::Evaluation* evaluation) {
  evaluation->clear_worker_id();
  evaluation->mutable_compile()->clear_log();
}

absl::StatusOr<v1::Problem> WholeProblem(store::Transaction& transaction, const store::SearchRecord& search) {
  v1::Problem problem;
  problem.set_id(search.problem_id);
  problem.set_name(search.name);
  WARPSMITH_ASSIGN_OR_RETURN(*problem.mutable_source(), store::GetBlob(transaction, search.problem_sha256));
  *problem.mutable_signature() = search.signature;
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::Baseline> baselines, store::GetBaselines(transaction, search.id));
  for (const v1::Baseline& baseline : baselines) *problem.add_baselines() = baseline;
  return problem;
}

template <typename Message>
absl::Status SetPlace(store::Transaction& transaction, const std::string& search_id, Message* message) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("export_search_place", {search_id}));
  if (rows.empty()) return absl::OkStatus();
  message->set_level(static_cast<int>(rows[0].Int("level")));
  message->set_number(static_cast<int>(rows[0].Int("number")));
  return absl::OkStatus();
}

// A search's best kernel as an archive tells it.
absl::StatusOr<v1::ArchivedKernel> BestKernel(store::Transaction& transaction, const store::SearchRecord& search,
                                              const v1::Candidate& best, const v1::Problem& problem, int64_t now_us) {
  v1::ArchivedKernel kernel;
  kernel.mutable_problem()->set_id(search.problem_id);
  kernel.mutable_problem()->set_name(search.name);
  kernel.mutable_problem()->set_source(problem.source());
  kernel.set_problem_sha256(search.problem_sha256);
  *kernel.mutable_intake() = search.intake;
  kernel.set_source(best.source());
  kernel.set_source_sha256(Sha256Hex(best.source()));
  kernel.set_operator_family(search.operator_family);
  kernel.set_device_class(search.device_class);
  kernel.set_emulated(search.emulated);
  kernel.set_precision_class(best.evaluation().reached());
  for (int accepted : bank::AcceptedOf(search.settings)) {
    kernel.add_accepted(static_cast<v1::PrecisionClass>(accepted));
  }
  kernel.set_frozen_weights(search.settings.frozen_weights());
  kernel.set_title(store::CleanLine(best.idea().title(), kTitleLength));
  kernel.set_median_ms(best.evaluation().timing().median_ms());
  if (best.evaluation().has_confirmation()) {
    kernel.set_ratio_to_reference(best.evaluation().confirmation().ratio_to_reference());
    kernel.set_ratio_low(best.evaluation().confirmation().reference_low());
    kernel.set_ratio_high(best.evaluation().confirmation().reference_high());
  }
  kernel.set_harness_rev(store::CleanLine(best.evaluation().harness_rev(), 40));
  kernel.set_judge_rev(store::CleanLine(best.evaluation().judge_rev(), 40));
  WARPSMITH_ASSIGN_OR_RETURN(*kernel.add_provenance(), bank::TellProvenance(transaction, search, best.id(),
                                                                            best.evaluation(), search.device, now_us));
  return kernel;
}

// Another candidate's part in this one; it may be another search's.
absl::Status TellParent(store::Transaction& transaction, const std::string& id, v1::ExportedParent* parent) {
  WARPSMITH_ASSIGN_OR_RETURN(v1::Candidate candidate, ViewCandidate(transaction, id));
  parent->set_candidate_id(id);
  parent->set_source(candidate.source());
  *parent->mutable_evaluation() = std::move(*candidate.mutable_evaluation());
  TakeMachineOut(parent->mutable_evaluation());
  parent->mutable_evaluation()->mutable_timing()->clear_sample_ms();
  parent->set_idea_title(candidate.idea().title());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Selected> Select(store::Transaction& transaction, const v1::ExportSelection& selection) {
  Selected selected;
  if (selection.what() == "bank") {
    WARPSMITH_ASSIGN_OR_RETURN(selected.kernel_ids, bank::Select(transaction, selection.filter()));
    return selected;
  }
  auto search = ResolveSearch(transaction, selection.what());
  if (search.ok()) {
    selected.search_ids.push_back(*search);
    return selected;
  }
  if (search.status().code() != absl::StatusCode::kNotFound) return search.status();
  const auto batch = batch::ResolveBatch(transaction, selection.what());
  if (!batch.ok()) {
    return NotFound("no search and no batch has the id " + store::CleanLine(selection.what(), 64) +
                    "; `warpsmith list` and `warpsmith batch list` show them, and \"bank\" is the kernel bank");
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("export_batch_searches", {*batch}));
  for (const store::Row row : rows) selected.search_ids.push_back(row.Text("id"));
  return selected;
}

absl::StatusOr<v1::ExportedProblem> ViewExportedProblem(store::Transaction& transaction, const std::string& search_id,
                                                        int64_t now_us) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, search_id));
  v1::ExportedProblem exported;
  exported.set_search_id(search.id);
  WARPSMITH_RETURN_IF_ERROR(SetPlace(transaction, search_id, &exported));
  exported.set_state(search.state);
  exported.set_error(search.error);
  WARPSMITH_ASSIGN_OR_RETURN(*exported.mutable_problem(), WholeProblem(transaction, search));
  *exported.mutable_device() = search.device;
  if (search.best_candidate_id.empty()) return exported;
  WARPSMITH_ASSIGN_OR_RETURN(v1::Candidate best, ViewCandidate(transaction, search.best_candidate_id));
  exported.set_candidate_id(best.id());
  WARPSMITH_ASSIGN_OR_RETURN(*exported.mutable_kernel(),
                             BestKernel(transaction, search, best, exported.problem(), now_us));
  *exported.mutable_evaluation() = std::move(*best.mutable_evaluation());
  TakeMachineOut(exported.mutable_evaluation());
  return exported;
}

absl::StatusOr<v1::ExportedProblem> ViewExportedKernel(store::Transaction& transaction, const std::string& kernel_id) {
  WARPSMITH_ASSIGN_OR_RETURN(v1::KernelDetail detail, bank::Show(transaction, kernel_id));
  v1::ExportedProblem exported;
  *exported.mutable_kernel() = bank::Archive(detail);
  exported.set_search_id(detail.kernel().search_id());
  WARPSMITH_RETURN_IF_ERROR(SetPlace(transaction, detail.kernel().search_id(), &exported));
  exported.set_candidate_id(detail.kernel().candidate_id());
  *exported.mutable_problem() = std::move(*detail.mutable_problem());
  if (!detail.provenance().empty()) {
    const v1::KernelProvenance& found = *detail.provenance().rbegin();
    *exported.mutable_device() = found.device();
    if (exported.problem().baselines().empty()) *exported.mutable_problem()->mutable_baselines() = found.baselines();
  }
  WARPSMITH_ASSIGN_OR_RETURN(v1::Candidate candidate, ViewCandidate(transaction, detail.kernel().candidate_id()));
  *exported.mutable_evaluation() = std::move(*candidate.mutable_evaluation());
  TakeMachineOut(exported.mutable_evaluation());
  return exported;
}

absl::StatusOr<v1::ExportedSearch> ViewExportedSearch(store::Transaction& transaction, const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, search_id));
  v1::ExportedSearch exported;
  exported.set_search_id(search.id);
  WARPSMITH_RETURN_IF_ERROR(SetPlace(transaction, search_id, &exported));
  WARPSMITH_ASSIGN_OR_RETURN(*exported.mutable_problem(), WholeProblem(transaction, search));
  *exported.mutable_intake() = search.intake;
  *exported.mutable_device() = search.device;
  for (int accepted : bank::AcceptedOf(search.settings)) {
    exported.add_accepted(static_cast<v1::PrecisionClass>(accepted));
  }
  exported.set_frozen_weights(search.settings.frozen_weights());
  exported.set_emulated(search.emulated);
  exported.set_strategy(search.strategy);
  return exported;
}

absl::StatusOr<std::vector<std::string>> ExportedCandidates(store::Transaction& transaction,
                                                            const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("export_candidates", {search_id}));
  std::vector<std::string> ids;
  for (const store::Row row : rows) ids.push_back(row.Text("id"));
  return ids;
}

absl::StatusOr<v1::ExportedCandidate> ViewExportedCandidate(store::Transaction& transaction,
                                                            const std::string& candidate_id) {
  v1::ExportedCandidate exported;
  WARPSMITH_ASSIGN_OR_RETURN(*exported.mutable_candidate(), ViewCandidate(transaction, candidate_id));
  v1::Candidate* candidate = exported.mutable_candidate();
  TakeMachineOut(candidate->mutable_evaluation());
  candidate->mutable_evaluation()->mutable_timing()->clear_sample_ms();
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet calls, transaction.Execute("export_call", {candidate_id}));
  if (!calls.empty()) {
    v1::ExportedCall* call = exported.mutable_call();
    call->set_provider(calls[0].Text("provider"));
    call->set_model(calls[0].Text("model"));
    call->set_effort(calls[0].Text("effort"));
    call->set_prompt_version(calls[0].Text("prompt_version"));
    call->set_prompt_variant(calls[0].Text("prompt_variant"));
    call->set_price_id(calls[0].Text("price_id"));
    call->set_usd(calls[0].Double("usd"));
    call->set_input_tokens(calls[0].Int("input_tokens"));
    call->set_output_tokens(calls[0].Int("output_tokens"));
  }
  if (!candidate->parent_id().empty()) {
    WARPSMITH_RETURN_IF_ERROR(TellParent(transaction, candidate->parent_id(), exported.mutable_parent()));
  }
  if (!candidate->repair_of().empty()) {
    WARPSMITH_RETURN_IF_ERROR(TellParent(transaction, candidate->repair_of(), exported.mutable_repaired()));
  }
  return exported;
}

}  // namespace warpsmith::api
