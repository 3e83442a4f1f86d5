#include "coordinator/bank/kernel_store.h"

#include <fmt/format.h>

#include "coordinator/bank/code_identity.h"
#include "coordinator/bank/provenance.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/text.h"

namespace warpsmith::bank {
namespace {

std::string StaleReason(const Figures& figures, const Revisions& newest) {
  return fmt::format("confirmed by harness {} and judge {}; now there are {} and {}", figures.revisions.harness,
                     figures.revisions.judge, newest.harness, newest.judge);
}

}  // namespace

absl::Status AddProvenance(store::Transaction& transaction, const std::string& kernel_id,
                           const std::vector<v1::KernelProvenance>& provenance) {
  for (const v1::KernelProvenance& one : provenance) {
    WARPSMITH_RETURN_IF_ERROR(
        transaction
            .Execute("kernel_provenance_insert", {kernel_id, OriginOf(one), store::Bytes{one.SerializeAsString()}})
            .status());
  }
  return absl::OkStatus();
}

absl::Status AddCheck(store::Transaction& transaction, const std::string& kernel_id, const CheckedBy& by,
                      const std::string& verdict, const std::string& message, const Figures& figures) {
  return transaction
      .Execute("kernel_check_insert",
               {kernel_id, by.search_id, by.evaluation_id, verdict, store::CleanText(message, 1000),
                figures.revisions.harness, figures.revisions.judge, figures.device_name, figures.median_ms,
                figures.ratio, figures.ratio_low, figures.ratio_high})
      .status();
}

absl::Status StoreMeasurement(store::Transaction& transaction, const std::string& kernel_id,
                              const std::string& module_sha256, const Figures& figures, const Revisions& newest) {
  const bool stale = Older(figures.revisions, newest);
  return transaction
      .Execute("kernel_measured", {kernel_id, figures.median_ms, figures.ratio_to_eager, figures.log_ratio,
                                   static_cast<int>(figures.precision_class), stale ? "stale" : "trusted",
                                   stale ? StaleReason(figures, newest) : "", figures.revisions.harness,
                                   figures.revisions.judge, figures.device_name, figures.ratio, figures.ratio_low,
                                   figures.ratio_high, store::NullIfEmpty(module_sha256)})
      .status();
}

absl::StatusOr<StoredKernel> StoreKernel(store::Transaction& transaction, const KernelEntry& entry,
                                         const v1::Evaluation& evaluation, const Figures& figures,
                                         const Revisions& newest, const CheckedBy& by,
                                         const std::vector<v1::KernelProvenance>& provenance) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string source, store::GetBlob(transaction, entry.source_sha256));
  const std::string module = ModuleIdentity(source, evaluation);
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet same,
      transaction.Execute("kernel_same_code", {entry.problem_id, entry.device_class,
                                               store::NullIfEmpty(entry.code_sha256), store::NullIfEmpty(module)}));
  StoredKernel stored;
  if (same.empty()) {
    stored = {store::NewId(), true};
    const bool stale = Older(figures.revisions, newest);
    WARPSMITH_RETURN_IF_ERROR(transaction
                                  .Execute("kernel_insert", {stored.id,
                                                             entry.candidate_id,
                                                             entry.search_id,
                                                             entry.problem_id,
                                                             entry.problem_name,
                                                             store::CleanLine(entry.operator_family, 80),
                                                             entry.device_class,
                                                             entry.emulated,
                                                             figures.median_ms,
                                                             figures.ratio_to_eager,
                                                             figures.log_ratio,
                                                             static_cast<int>(figures.precision_class),
                                                             store::CleanLine(entry.title, 200),
                                                             entry.source_sha256,
                                                             stale ? "stale" : "trusted",
                                                             stale ? StaleReason(figures, newest) : "",
                                                             store::NullIfEmpty(entry.code_sha256),
                                                             store::NullIfEmpty(module),
                                                             figures.revisions.harness,
                                                             figures.revisions.judge,
                                                             figures.device_name,
                                                             figures.ratio,
                                                             figures.ratio_low,
                                                             figures.ratio_high,
                                                             entry.accepted,
                                                             entry.frozen_weights})
                                  .status());
    WARPSMITH_RETURN_IF_ERROR(AddCheck(transaction, stored.id, by, "admitted", "", figures));
  } else {
    const store::Row row = same[0];
    stored = {row.Text("id"), false};
    std::string message;
    if (row.Text("state") == "failed") {
      message = "a verification failed it: " + row.Text("state_reason");
    } else if (Older(figures.revisions, FiguresOfRow(row).revisions)) {
      message = "found again by an older revision; the newer figures stay";
    } else {
      WARPSMITH_RETURN_IF_ERROR(StoreMeasurement(transaction, stored.id, module, figures, newest));
    }
    WARPSMITH_RETURN_IF_ERROR(AddCheck(transaction, stored.id, by, "found_again", message, figures));
  }
  WARPSMITH_RETURN_IF_ERROR(AddProvenance(transaction, stored.id, provenance));
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("kernel_crown", {entry.problem_id, entry.device_class}).status());
  WARPSMITH_RETURN_IF_ERROR(
      transaction.Execute("pending_delete", {entry.problem_id, entry.device_class, entry.code_sha256}).status());
  return stored;
}

Figures FiguresOfRow(const store::Row& row) {
  Figures figures;
  figures.median_ms = row.Double("median_ms");
  figures.ratio_to_eager = row.Double("ratio_to_eager");
  figures.log_ratio = row.Double("log_ratio");
  figures.ratio = row.Double("ratio");
  figures.ratio_low = row.Double("ratio_low");
  figures.ratio_high = row.Double("ratio_high");
  figures.precision_class = static_cast<v1::PrecisionClass>(row.Int("precision_class"));
  figures.revisions = {row.Text("harness_rev"), row.Text("judge_rev")};
  figures.device_name = row.Text("device_name");
  return figures;
}

}  // namespace warpsmith::bank
