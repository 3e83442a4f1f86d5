// BatchOperations' second part: problems that did not come to their end are tried again.
#include <fmt/format.h>

#include "coordinator/batch/batch_operations.h"
#include "coordinator/engine/batch_share.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/records.h"

namespace warpsmith::batch {
namespace {

// Whether its searches could spend anything now.
absl::StatusOr<bool> HasBudget(store::Transaction& transaction, const BatchRecord& record) {
  const v1::BatchLimits& limits = record.limits;
  if (limits.max_usd() > 0 && record.used_usd >= limits.max_usd()) return false;
  if (limits.max_tokens() > 0 && record.used_tokens >= limits.max_tokens()) return false;
  if (limits.max_gpu_hours() <= 0) return true;
  WARPSMITH_ASSIGN_OR_RETURN(const engine::GpuUse use, engine::GetGpuUse(transaction, record.id, ""));
  return !use.SpentForAll(limits.max_gpu_hours() * 3600);
}

}  // namespace

absl::Status BatchOperations::SearchAnew(store::Transaction& transaction, const BatchRecord& record,
                                         const store::Row& row) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord old, store::GetSearch(transaction, row.Text("id")));
  v1::SubmitSearchRequest again;
  again.set_name(old.name);
  WARPSMITH_ASSIGN_OR_RETURN(*again.mutable_source(), store::GetBlob(transaction, old.problem_sha256));
  *again.mutable_settings() = old.settings;
  again.set_submitted_by(old.submitted_by);
  engine::SearchPlace place = PlaceIn(record, row.Text("batch_key"));
  place.level = static_cast<int>(row.Int("level"));
  place.number = static_cast<int>(row.Int("number"));
  place.replaces = old.id;
  return engine::InsertSearch(transaction, context_.queue, context_.executor.settings(), again, place).status();
}

absl::Status BatchOperations::GoOn(store::Transaction& transaction, const std::string& search_id, bool had_ended) {
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {search_id}).status());
  if (had_ended) {
    for (const char* statement : {"batch_reopen_search", "batch_reopen_round", "batch_reopen_calls",
                                  "batch_reopen_evaluations", "batch_unmark_search_spent"}) {
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute(statement, {search_id}).status());
    }
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet given_up,
                             transaction.Execute("batch_quarantined_tasks", {search_id}));
  for (const store::Row task : given_up) {
    WARPSMITH_RETURN_IF_ERROR(
        transaction.Execute("quarantine_retry", {task.Int("id"), "put back into the queue with its batch"}).status());
    if (task.Text("kind") != "evaluate") continue;
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("quarantine_candidate_again", {task.Text("candidate_id")}).status());
  }
  return store::AddEvent(
      transaction, search_id,
      fmt::format("tried again with its batch{}{}", had_ended ? ": it goes on where it had ended" : "",
                  given_up.empty() ? "" : fmt::format("; {} tasks are out of quarantine", given_up.size())));
}

absl::StatusOr<std::string> BatchOperations::RetryFailed(const std::string& prefix, int* retried) {
  std::string id;
  std::vector<std::string> reopened;
  absl::Status status = context_.database.Write([&](store::Transaction& transaction) -> absl::Status {
    *retried = 0;
    reopened.clear();
    WARPSMITH_ASSIGN_OR_RETURN(const BatchRecord record, Lock(transaction, prefix));
    id = record.id;
    if (record.state == "cancelled") {
      return FailedPrecondition(fmt::format("batch {} is cancelled; submit its problems again", record.name));
    }
    WARPSMITH_ASSIGN_OR_RETURN(const bool room, HasBudget(transaction, record));
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet ended, transaction.Execute("batch_retry_searches", {id, room}));
    for (const store::Row row : ended) {
      if (row.Bool("anew")) {
        WARPSMITH_RETURN_IF_ERROR(SearchAnew(transaction, record, row));
      } else {
        WARPSMITH_RETURN_IF_ERROR(GoOn(transaction, row.Text("id"), row.Text("state") == "done"));
        reopened.push_back(row.Text("id"));
      }
      ++*retried;
    }
    if (*retried == 0) return absl::OkStatus();
    return transaction.Execute("batch_set_state", {id, "running"}).status();
  });
  if (!status.ok()) return status;
  if (*retried > 0) Tell(reopened);
  return id;
}

}  // namespace warpsmith::batch
