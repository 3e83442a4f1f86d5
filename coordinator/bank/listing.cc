// The half of bank.h that operators read.
#include <fmt/format.h>

#include <algorithm>

#include "coordinator/bank/archive.h"
#include "coordinator/bank/bank.h"
#include "coordinator/bank/code_identity.h"
#include "coordinator/store/blob_store.h"

namespace warpsmith::bank {
namespace {

constexpr size_t kLeastPrefix = 6;

v1::BankKernel KernelFromRow(const store::Row& row) {
  v1::BankKernel kernel;
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
  kernel.set_state(row.Text("state"));
  kernel.set_ratio_to_reference(row.Double("ratio"));
  kernel.set_ratio_low(row.Double("ratio_low"));
  kernel.set_ratio_high(row.Double("ratio_high"));
  kernel.set_harness_rev(row.Text("harness_rev"));
  kernel.set_judge_rev(row.Text("judge_rev"));
  kernel.set_champion(row.Bool("champion"));
  kernel.set_found(static_cast<int>(row.Int("found")));
  return kernel;
}

absl::StatusOr<std::vector<v1::BankKernel>> ListOnly(store::Transaction& transaction,
                                                     const std::string& operator_family, const std::string& problem,
                                                     const std::string& device_class, bool emulated, int limit) {
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet rows,
      transaction.Execute("kernel_list", {operator_family, device_class, emulated, problem, limit}));
  std::vector<v1::BankKernel> kernels;
  for (const store::Row row : rows) kernels.push_back(KernelFromRow(row));
  return kernels;
}

v1::KernelCheck CheckFromRow(const store::Row& row) {
  v1::KernelCheck check;
  check.set_at_us(row.Int("at_us"));
  check.set_verdict(row.Text("verdict"));
  check.set_message(row.Text("message"));
  check.set_harness_rev(row.Text("harness_rev"));
  check.set_judge_rev(row.Text("judge_rev"));
  check.set_device_name(row.Text("device_name"));
  check.set_median_ms(row.Double("median_ms"));
  check.set_ratio(row.Double("ratio"));
  check.set_ratio_low(row.Double("ratio_low"));
  check.set_ratio_high(row.Double("ratio_high"));
  check.set_search_id(row.Text("search_id"));
  return check;
}

}  // namespace

absl::StatusOr<std::vector<v1::BankKernel>> List(store::Transaction& transaction, const std::string& operator_family,
                                                 const std::string& problem, const std::string& device_class,
                                                 int limit) {
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<v1::BankKernel> kernels,
                             ListOnly(transaction, operator_family, problem, device_class, false, limit));
  if (!kernels.empty()) return kernels;
  return ListOnly(transaction, operator_family, problem, device_class, true, limit);
}

absl::StatusOr<std::string> ResolveKernel(store::Transaction& transaction, const std::string& prefix,
                                          bool pending_too) {
  const bool clean = std::all_of(prefix.begin(), prefix.end(),
                                 [](unsigned char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); });
  if (prefix.size() < kLeastPrefix || prefix.size() > 64 || !clean) {
    return InvalidArgument(
        "kernel_id: give at least 6 of the id's letters and digits; `warpsmith bank list` shows the ids");
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("kernel_by_prefix", {prefix, pending_too}));
  if (rows.empty()) {
    return NotFound(
        fmt::format("kernel_id: no kernel of the bank has the id {}; `warpsmith bank list` shows the ids, `warpsmith "
                    "bank list --pending` what is not in the bank",
                    prefix));
  }
  if (rows.size() > 1 && rows[0].Text("id") != prefix) {
    return InvalidArgument(fmt::format("kernel_id: more than one id begins with {}; give more of it", prefix));
  }
  return rows[0].Text("id");
}

absl::StatusOr<std::vector<std::string>> Select(store::Transaction& transaction, const v1::KernelFilter& filter) {
  const std::vector<std::string> ids(filter.kernel_ids().begin(), filter.kernel_ids().end());
  std::vector<std::string> selected;
  for (bool emulated : {false, true}) {
    WARPSMITH_ASSIGN_OR_RETURN(
        const store::ResultSet rows,
        transaction.Execute("kernel_select", {filter.operator_family(), filter.problem(), filter.device_class(), ids,
                                              filter.champions_only(), std::vector<std::string>{"trusted", "stale"},
                                              emulated, kMaxArchivedKernels}));
    for (const store::Row row : rows) {
      const std::string& than = filter.older_than_harness();
      if (than.empty() || OlderRevision(row.Text("harness_rev"), than)) selected.push_back(row.Text("id"));
    }
    if (!selected.empty()) break;
  }
  return selected;
}

absl::StatusOr<v1::KernelDetail> Show(store::Transaction& transaction, const std::string& id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("kernel_get", {id}));
  if (rows.empty()) return NotFound(fmt::format("there is no kernel {}", id));
  const store::Row row = rows[0];
  v1::KernelDetail detail;
  *detail.mutable_kernel() = KernelFromRow(row);
  WARPSMITH_ASSIGN_OR_RETURN(*detail.mutable_source(), store::GetBlob(transaction, row.Text("source_sha256")));
  detail.mutable_problem()->set_id(row.Text("problem_id"));
  detail.mutable_problem()->set_name(row.Text("problem_name"));
  WARPSMITH_ASSIGN_OR_RETURN(*detail.mutable_problem()->mutable_source(),
                             store::GetBlob(transaction, row.Text("problem_sha256")));
  detail.mutable_problem()->mutable_signature()->ParseFromString(row.Blob("signature"));
  detail.mutable_intake()->ParseFromString(row.Blob("intake_settings"));
  for (int accepted : row.Ints("accepted")) detail.add_accepted(static_cast<v1::PrecisionClass>(accepted));
  detail.set_frozen_weights(row.Bool("frozen_weights"));
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet provenance, transaction.Execute("kernel_provenance_of", {id}));
  for (const store::Row one : provenance) detail.add_provenance()->ParseFromString(one.Blob("body"));
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet checks, transaction.Execute("kernel_checks_of", {id}));
  for (const store::Row one : checks) *detail.add_checks() = CheckFromRow(one);
  return detail;
}

absl::StatusOr<std::vector<v1::PendingKernel>> ListPending(store::Transaction& transaction, int limit) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("pending_list", {limit}));
  std::vector<v1::PendingKernel> kernels;
  for (const store::Row row : rows) {
    v1::PendingKernel& kernel = kernels.emplace_back();
    kernel.set_id(row.Text("id"));
    kernel.set_kind(row.Text("kind"));
    kernel.set_problem_name(row.Text("problem_name"));
    kernel.set_device_class(row.Text("device_class"));
    kernel.set_candidate_id(row.Text("candidate_id"));
    kernel.set_search_id(row.Text("search_id"));
    kernel.set_median_ms(row.Double("median_ms"));
    kernel.set_reason(row.Text("reason"));
    kernel.set_verifying(row.Bool("verifying"));
    kernel.set_since_us(row.Int("since_us"));
    kernel.set_emulated(row.Bool("emulated"));
  }
  return kernels;
}

absl::StatusOr<std::vector<v1::Verification>> ListVerifications(store::Transaction& transaction,
                                                                const std::vector<std::string>& search_ids, int limit) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("verification_list", {search_ids, limit}));
  std::vector<v1::Verification> verifications;
  for (const store::Row row : rows) {
    v1::Verification& one = verifications.emplace_back();
    one.set_search_id(row.Text("search_id"));
    one.set_candidate_id(row.Text("candidate_id"));
    one.set_kernel_id(row.Text("kernel_id"));
    one.set_problem_name(row.Text("problem_name"));
    one.set_device_class(row.Text("device_class"));
    one.set_verdict(row.Text("verdict"));
    one.set_message(row.Text("message"));
    one.set_old_ms(row.Double("old_ms"));
    one.set_new_ms(row.Double("new_ms"));
    one.set_old_ratio(row.Double("old_ratio"));
    one.set_new_ratio(row.Double("new_ratio"));
    one.set_requested_at_us(row.Int("requested_us"));
    one.set_finished_at_us(row.Int("finished_us"));
    one.set_requested_by(row.Text("requested_by"));
  }
  return verifications;
}

}  // namespace warpsmith::bank
