// The second half of verification.h: what comes of it.
#include <fmt/format.h>

#include <cmath>

#include "coordinator/bank/code_identity.h"
#include "coordinator/bank/verification.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/text.h"

namespace warpsmith::bank {
namespace {

struct Verdict {
  std::string name;
  std::string message;
  double old_ms = 0;  // 0: not comparable
  double old_ratio = 0;
};

absl::Status Finish(store::Transaction& transaction, const std::string& candidate_id, const Verdict& verdict,
                    const Figures& figures) {
  const double new_ratio = figures.median_ms > 0 ? std::exp(figures.log_ratio) : 0;
  return transaction
      .Execute("verification_finish", {candidate_id, verdict.name, store::CleanText(verdict.message, 1000),
                                       verdict.old_ms, figures.median_ms, verdict.old_ratio, new_ratio})
      .status();
}

// A kernel of the bank was confirmed again, or was not.
absl::StatusOr<Verdict> ConfirmAgain(store::Transaction& transaction, const KernelEntry& entry,
                                     const std::string& kernel_id, const v1::Evaluation& evaluation,
                                     const CheckedBy& by, const Figures& figures, const Revisions& newest,
                                     const std::string& why) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("kernel_get", {kernel_id}));
  if (rows.empty()) return Verdict{"given_up", "the kernel is no longer in the bank"};
  const Figures before = FiguresOfRow(rows[0]);
  Verdict verdict;
  if (!why.empty()) {
    verdict = {"failed", why};
    WARPSMITH_RETURN_IF_ERROR(
        transaction.Execute("kernel_set_state", {kernel_id, "failed", store::CleanText(why, 1000)}).status());
  } else {
    // What was only measured was never a figure to compare with.
    const bool measured_only = rows[0].Text("state") == "unconfirmed";
    const Comparison comparison = Compare(measured_only ? Figures() : before, figures, entry.emulated);
    verdict = {measured_only ? "confirmed" : comparison.verdict,
               measured_only ? "its first confirmation" : comparison.message};
    if (!measured_only && comparison.verdict != "remeasured") {
      verdict.old_ms = before.median_ms;
      verdict.old_ratio = std::exp(before.log_ratio);
    }
    WARPSMITH_ASSIGN_OR_RETURN(const std::string source, store::GetBlob(transaction, entry.source_sha256));
    WARPSMITH_RETURN_IF_ERROR(
        StoreMeasurement(transaction, kernel_id, ModuleIdentity(source, evaluation), figures, newest));
  }
  WARPSMITH_RETURN_IF_ERROR(AddCheck(transaction, kernel_id, by, verdict.name, verdict.message, figures));
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("kernel_crown", {entry.problem_id, entry.device_class}).status());
  return verdict;
}

// A kernel that waited is admitted, or is refused.
absl::StatusOr<Verdict> AdmitPending(store::Transaction& transaction, KernelEntry entry, const std::string& pending_id,
                                     const v1::Evaluation& evaluation, const CheckedBy& by, const Figures& figures,
                                     const Revisions& newest, const std::string& why) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("pending_get", {pending_id}));
  if (!why.empty()) {
    if (!rows.empty()) {
      WARPSMITH_RETURN_IF_ERROR(
          transaction.Execute("pending_set_state", {pending_id, "refused", store::CleanText(why, 1000)}).status());
    }
    return Verdict{"failed", why};
  }
  std::vector<v1::KernelProvenance> provenance;
  if (!rows.empty()) {
    v1::ArchivedKernel body;
    body.ParseFromString(rows[0].Blob("body"));
    provenance.assign(body.provenance().begin(), body.provenance().end());
    // The search's own candidate knows its idea; an imported kernel's only one is the verification's.
    if (!rows[0].Text("candidate_id").empty()) {
      entry.candidate_id = rows[0].Text("candidate_id");
      entry.search_id = rows[0].Text("search_id");
    }
  }
  WARPSMITH_ASSIGN_OR_RETURN(const StoredKernel stored,
                             StoreKernel(transaction, entry, evaluation, figures, newest, by, provenance));
  return Verdict{"admitted", stored.fresh ? "" : "its code was in the bank already; its provenance was added"};
}

}  // namespace

absl::Status FinishVerification(store::Transaction& transaction, const KernelEntry& entry,
                                const v1::Evaluation& evaluation, int64_t evaluation_id, const Figures& figures,
                                const Revisions& newest, const std::string& why) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("verification_get", {entry.candidate_id}));
  if (rows.empty()) return absl::OkStatus();
  const std::string kernel_id = rows[0].Text("kernel_id");
  const CheckedBy by{entry.search_id, evaluation_id};
  Verdict verdict;
  if (!kernel_id.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(verdict,
                               ConfirmAgain(transaction, entry, kernel_id, evaluation, by, figures, newest, why));
  } else {
    WARPSMITH_ASSIGN_OR_RETURN(
        verdict, AdmitPending(transaction, entry, rows[0].Text("pending_id"), evaluation, by, figures, newest, why));
  }
  WARPSMITH_RETURN_IF_ERROR(Finish(transaction, entry.candidate_id, verdict, figures));
  return store::AddEvent(
      transaction, entry.search_id,
      fmt::format("{}: {}{}", entry.title, verdict.name, verdict.message.empty() ? "" : ": " + verdict.message));
}

absl::Status GiveUpVerifications(store::Transaction& transaction, const store::SearchRecord& search) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("verification_unfinished", {search.id}));
  for (const store::Row row : rows) {
    std::string why = search.error;
    if (why.empty() && !row.Text("candidate_message").empty()) {
      why = fmt::format("its confirmation was given up ({}): {}", row.Text("reason"), row.Text("candidate_message"));
    }
    if (why.empty()) why = fmt::format("its verification ended ({}) before it was confirmed", search.finish_reason);
    WARPSMITH_RETURN_IF_ERROR(Finish(transaction, row.Text("candidate_id"), {"given_up", why}, Figures()));
    if (row.Text("pending_id").empty()) continue;
    WARPSMITH_RETURN_IF_ERROR(
        transaction
            .Execute("pending_set_state",
                     {row.Text("pending_id"), "waiting",
                      store::CleanText(why + "; warpsmith bank verify --pending tries again", 1000)})
            .status());
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::bank
