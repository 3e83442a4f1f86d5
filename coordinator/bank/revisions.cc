#include "coordinator/bank/revisions.h"

#include <spdlog/spdlog.h>

#include "coordinator/bank/code_identity.h"

namespace warpsmith::bank {
namespace {

Revisions Newest(const Revisions& a, const Revisions& b) {
  return {OlderRevision(a.harness, b.harness) ? b.harness : a.harness,
          OlderRevision(a.judge, b.judge) ? b.judge : a.judge};
}

bool Same(const Revisions& a, const Revisions& b) { return a.harness == b.harness && a.judge == b.judge; }

}  // namespace

absl::StatusOr<Revisions> NoteRevisions(store::Transaction& transaction, const std::string& device_class,
                                        const Revisions& seen) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet known, transaction.Execute("bank_revision_get", {device_class}));
  if (!known.empty()) {
    const Revisions now{known[0].Text("harness_rev"), known[0].Text("judge_rev")};
    if (Same(Newest(now, seen), now)) return now;
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet locked, transaction.Execute("bank_revision_lock", {device_class}));
  const Revisions before{locked[0].Text("harness_rev"), locked[0].Text("judge_rev")};
  const Revisions newest = Newest(before, seen);
  if (Same(newest, before)) return newest;
  WARPSMITH_RETURN_IF_ERROR(
      transaction.Execute("bank_revision_set", {device_class, newest.harness, newest.judge}).status());
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet stale,
                             transaction.Execute("kernel_make_stale", {device_class, newest.harness, newest.judge}));
  if (!stale.empty()) {
    spdlog::info("{} kernels of the bank for {} are stale: harness {} and judge {} are newer than what confirmed them",
                 stale.size(), device_class, newest.harness, newest.judge);
  }
  return newest;
}

}  // namespace warpsmith::bank
