#include "coordinator/operations/quarantine.h"

#include <fmt/format.h>

#include <sstream>

#include "coordinator/store/records.h"
#include "coordinator/store/text.h"

namespace warpsmith::operations {
namespace {

constexpr int kMostIds = 1000;

v1::QuarantinedTask TaskFromRow(const store::Row& row) {
  v1::QuarantinedTask task;
  task.set_task_id(row.Int("id"));
  task.set_kind(row.Text("kind"));
  task.set_search_id(row.Text("search_id"));
  task.set_search_name(row.Text("search_name"));
  task.set_search_state(row.Text("search_state"));
  task.set_candidate_id(row.Text("candidate_id"));
  task.set_stage(row.Text("stage"));
  task.set_device_class(row.Text("device_class"));
  task.set_attempts(static_cast<int>(row.Int("attempts")));
  task.set_failures(static_cast<int>(row.Int("failures")));
  task.set_worker_deaths(static_cast<int>(row.Int("worker_deaths")));
  std::istringstream workers(row.Text("killed_lines"));
  for (std::string worker; std::getline(workers, worker);) task.add_killed_workers(worker);
  task.set_last_error(row.Text("last_error"));
  task.set_log(row.Text("log"));
  task.set_quarantined_at_us(row.Int("quarantined_us"));
  return task;
}

// Empty: it is in the queue again. Else why not.
absl::StatusOr<std::string> RetryOne(store::Transaction& transaction, int64_t id, const std::string& who,
                                     std::string* search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet seen, transaction.Execute("quarantine_get", {id}));
  if (seen.empty()) return "there is no task of this number";
  *search_id = seen[0].Text("search_id");
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {*search_id}).status());
  // Again, now that nobody else changes it.
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("quarantine_get", {id}));
  const store::Row row = rows[0];
  if (row.Text("state") != "quarantined") return fmt::format("it is not quarantined but {}", row.Text("state"));
  const bool intake = row.Text("kind") == "intake";
  const std::string state = row.Text("search_state");
  const bool failed_by_it = intake && state == "failed" && row.Text("finish_reason") == "intake";
  if (state != "running" && state != "intake" && !failed_by_it) {
    return fmt::format("its search is {}: submit the problem again", state.empty() ? "gone" : state);
  }
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet retried,
      transaction.Execute("quarantine_retry", {id, who.empty() ? std::string("put back into the queue")
                                                               : "put back into the queue by " + who}));
  if (retried.empty()) return Internal("a quarantined task cannot be put back");
  if (failed_by_it) {
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("quarantine_search_again", {*search_id}).status());
  }
  if (!row.Text("candidate_id").empty() && row.Text("kind") == "evaluate") {
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("quarantine_candidate_again", {row.Text("candidate_id")}).status());
  }
  WARPSMITH_RETURN_IF_ERROR(store::AddEvent(transaction, *search_id,
                                            fmt::format("task {} ({}) was put back into the queue{}", id,
                                                        row.Text("kind"), who.empty() ? "" : " by " + who)));
  return std::string();
}

}  // namespace

absl::StatusOr<v1::ListQuarantinedReply> ListQuarantined(store::Transaction& transaction, const std::string& search_id,
                                                         int limit) {
  v1::ListQuarantinedReply reply;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("quarantine_list", {search_id, limit}));
  for (const store::Row row : rows) {
    *reply.add_tasks() = TaskFromRow(row);
    reply.set_total(static_cast<int>(row.Int("total")));
  }
  return reply;
}

absl::StatusOr<v1::RetryQuarantinedReply> RetryQuarantined(store::Database& database,
                                                           const v1::RetryQuarantinedRequest& request,
                                                           std::vector<std::string>* changed) {
  if (request.all() == !request.task_ids().empty()) {
    return InvalidArgument(
        "RetryQuarantinedRequest: name task_ids, or set all; `warpsmith queue quarantine list` "
        "shows those there are");
  }
  if (request.task_ids_size() > kMostIds) {
    return InvalidArgument(fmt::format("RetryQuarantinedRequest.task_ids: at most {} at once; or set all", kMostIds));
  }
  std::vector<int64_t> ids(request.task_ids().begin(), request.task_ids().end());
  if (request.all()) {
    WARPSMITH_RETURN_IF_ERROR(database.Read([&](store::Transaction& transaction) -> absl::Status {
      ids.clear();
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("quarantine_ids", {}));
      for (const store::Row row : rows) ids.push_back(row.Int("id"));
      return absl::OkStatus();
    }));
  }
  const std::string who = store::CleanLine(request.submitted_by(), 100);
  v1::RetryQuarantinedReply reply;
  for (const int64_t id : ids) {
    std::string skipped, search_id;
    // A transaction each: those done before an error stay done, and the call can be repeated.
    WARPSMITH_RETURN_IF_ERROR(database.Write([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(skipped, RetryOne(transaction, id, who, &search_id));
      return absl::OkStatus();
    }));
    if (skipped.empty()) {
      reply.add_retried(id);
      changed->push_back(search_id);
    } else {
      v1::RetryQuarantinedReply::Skipped* skip = reply.add_skipped();
      skip->set_task_id(id);
      skip->set_reason(skipped);
    }
  }
  return reply;
}

}  // namespace warpsmith::operations
