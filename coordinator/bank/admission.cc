#include "coordinator/bank/admission.h"

#include <fmt/format.h>

#include "common/protocol_names.h"
#include "coordinator/bank/code_identity.h"
#include "coordinator/bank/kernel_store.h"
#include "coordinator/bank/provenance.h"
#include "coordinator/bank/revisions.h"
#include "coordinator/bank/verification.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/text.h"
#include "warpsmith/v1/bank.pb.h"

namespace warpsmith::bank {
namespace {

KernelEntry EntryOf(const store::SearchRecord& search, const store::Row& candidate) {
  KernelEntry entry;
  entry.candidate_id = candidate.Text("id");
  entry.search_id = search.id;
  entry.problem_id = search.problem_id;
  entry.problem_name = search.name;
  entry.operator_family = search.operator_family;
  entry.device_class = search.device_class;
  entry.emulated = search.emulated;
  entry.title = candidate.Text("idea_title");
  entry.source_sha256 = candidate.Text("source_sha256");
  entry.code_sha256 = candidate.Text("renamed_sha256");
  entry.accepted = AcceptedOf(search.settings);
  entry.frozen_weights = search.settings.frozen_weights();
  return entry;
}

// Why a search's best is not in the bank.
std::string WhyUnconfirmed(const store::SearchRecord& search, const store::CandidateRecord& best) {
  if (best.evaluation.timing().stage() == "confirm" || best.evaluation.has_confirmation()) {
    const std::string why =
        WhyNotAdmitted(search.signature, best.evaluation, search.device_class, search.emulated, search.device);
    if (!why.empty()) return why;
  }
  switch (search.state) {
    case v1::SEARCH_STATE_CANCELLED:
      return "its search was cancelled before it was confirmed";
    case v1::SEARCH_STATE_FAILED:
      return "its search failed before it was confirmed";
    default:
      return fmt::format("its search ended ({}) before it was confirmed", search.finish_reason);
  }
}

absl::Status NotePending(store::Transaction& transaction, const store::SearchRecord& search) {
  if (search.best_candidate_id.empty() || search.signature.degenerate()) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("bank_candidate", {search.best_candidate_id}));
  if (rows.empty()) return absl::OkStatus();
  const KernelEntry entry = EntryOf(search, rows[0]);
  if (entry.source_sha256.empty() || entry.code_sha256.empty()) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord best,
                             store::GetCandidate(transaction, search.best_candidate_id));
  WARPSMITH_ASSIGN_OR_RETURN(const std::string source, store::GetBlob(transaction, entry.source_sha256));
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet same,
      transaction.Execute("kernel_same_code", {entry.problem_id, entry.device_class, entry.code_sha256,
                                               store::NullIfEmpty(ModuleIdentity(source, best.evaluation))}));
  if (!same.empty()) return absl::OkStatus();
  v1::ArchivedKernel body;
  WARPSMITH_ASSIGN_OR_RETURN(*body.add_provenance(),
                             TellProvenance(transaction, search, best.id, best.evaluation, search.device, 0));
  return transaction
      .Execute("pending_insert",
               {store::NewId(), "search",
                store::CleanText(WhyUnconfirmed(search, best) + "; warpsmith bank verify --pending tries again", 1000),
                entry.problem_id, entry.problem_name, entry.device_class, entry.operator_family, entry.emulated,
                entry.candidate_id, entry.search_id, entry.title, best.model, entry.source_sha256, entry.code_sha256,
                entry.accepted, entry.frozen_weights, best.median_ms, store::Bytes{body.SerializeAsString()}})
      .status();
}

}  // namespace

absl::Status RecordConfirmation(store::Transaction& transaction, const ConfirmedRun& run) {
  const store::SearchRecord& search = run.search;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("bank_candidate", {run.candidate_id}));
  if (rows.empty()) return Internal(fmt::format("candidate {} is gone", run.candidate_id));
  const Figures figures = FiguresOf(run.evaluation, rows[0].Double("log_ratio"));
  WARPSMITH_ASSIGN_OR_RETURN(const Revisions newest,
                             NoteRevisions(transaction, search.device_class, figures.revisions));
  const KernelEntry entry = EntryOf(search, rows[0]);
  const std::string why =
      WhyNotAdmitted(search.signature, run.evaluation, search.device_class, search.emulated, run.device);
  if (search.strategy == kVerifyStrategy) {
    return FinishVerification(transaction, entry, run.evaluation, run.evaluation_id, figures, newest, why);
  }
  if (!why.empty()) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(
      const v1::KernelProvenance provenance,
      TellProvenance(transaction, search, run.candidate_id, run.evaluation, run.device, run.now_us));
  return StoreKernel(transaction, entry, run.evaluation, figures, newest, {search.id, run.evaluation_id}, {provenance})
      .status();
}

absl::StatusOr<Harvest> CloseSearch(store::Transaction& transaction, const store::SearchRecord& search) {
  if (search.strategy == kVerifyStrategy) {
    WARPSMITH_RETURN_IF_ERROR(GiveUpVerifications(transaction, search));
    return Harvest();
  }
  WARPSMITH_RETURN_IF_ERROR(NotePending(transaction, search));
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("kernel_admitted_by", {search.id}));
  return Harvest{static_cast<int>(rows[0].Int("admitted")), static_cast<int>(rows[0].Int("kernels"))};
}

}  // namespace warpsmith::bank
