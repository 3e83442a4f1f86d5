#include "coordinator/batch/batch_operations.h"

#include <fmt/format.h>

#include "common/hash.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/budgets.h"
#include "coordinator/store/records.h"
#include "coordinator/store/text.h"

namespace warpsmith::batch {
namespace {

constexpr int kMostProblems = 2000;

// What tells the problems of a batch apart: KernelBench's id within its level, else the name.
std::string KeyOf(const v1::ProblemSource& problem) {
  if (problem.number() > 0) return fmt::format("level{}/{}", problem.level(), problem.number());
  return problem.level() > 0 ? fmt::format("level{}/{}", problem.level(), problem.name()) : problem.name();
}

v1::SubmitSearchRequest SearchOf(const v1::ProblemSource& problem, const std::string& submitted_by) {
  v1::SubmitSearchRequest search;
  search.set_name(problem.name());
  search.set_source(problem.source());
  *search.mutable_settings() = problem.settings();
  search.set_submitted_by(submitted_by);
  return search;
}

absl::Status CheckProblem(const v1::ProblemSource& problem, const std::string& field) {
  if (problem.level() < 0 || problem.number() < 0) {
    return InvalidArgument(fmt::format("{}: level and number must not be negative; 0 is none", field));
  }
  return engine::CheckSearch(SearchOf(problem, ""), field);
}

absl::Status CheckOpen(const BatchRecord& record, const char* what) {
  if (record.state == "running" || record.state == "assembling") return absl::OkStatus();
  return FailedPrecondition(
      fmt::format("batch {} is {}; only one that is under way can be {}", record.name, record.state, what));
}

}  // namespace

engine::SearchPlace PlaceIn(const BatchRecord& record, const std::string& key) {
  engine::SearchPlace place;
  place.batch_id = record.id;
  place.batch_key = key;
  place.owner = record.owner;
  place.priority = record.limits.priority();
  place.admitted = false;
  place.paused = record.paused;
  return place;
}

absl::Status EndCancelled(const BatchContext& context, const std::string& batch_id) {
  std::vector<std::string> open;
  WARPSMITH_RETURN_IF_ERROR(context.database.Read([&](store::Transaction& transaction) -> absl::Status {
    open.clear();
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_open_searches", {batch_id}));
    for (const store::Row row : rows) open.push_back(row.Text("id"));
    return absl::OkStatus();
  }));
  for (const std::string& id : open) {
    std::vector<queue::CancelledTask> cancelled;
    absl::Status ended = context.database.Write([&](store::Transaction& transaction) -> absl::Status {
      cancelled.clear();
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {id}).status());
      WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, id));
      return context.executor
          .End(transaction, search, v1::SEARCH_STATE_CANCELLED, "cancelled", "", context.clock.WallMicros(), &cancelled)
          .status();
    });
    if (!ended.ok()) return ended;
    if (!cancelled.empty()) context.signals.TasksCancelled(cancelled);
    context.signals.SearchChanged(id);
  }
  return absl::OkStatus();
}

absl::StatusOr<BatchRecord> BatchOperations::Lock(store::Transaction& transaction, const std::string& prefix) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string id, ResolveBatch(transaction, prefix));
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("batch_lock", {id}).status());
  return GetBatch(transaction, id);
}

absl::StatusOr<std::vector<std::string>> BatchOperations::LockSearches(store::Transaction& transaction,
                                                                       const std::string& batch_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_lock_searches", {batch_id}));
  std::vector<std::string> ids;
  for (const store::Row row : rows) ids.push_back(row.Text("id"));
  return ids;
}

void BatchOperations::Tell(const std::vector<std::string>& searches) {
  context_.signals.TasksAdded();  // the scheduler looks again too
  for (const std::string& id : searches) context_.signals.SearchChanged(id);
}

absl::Status BatchOperations::AddAll(store::Transaction& transaction, const BatchRecord& record,
                                     const google::protobuf::RepeatedPtrField<v1::ProblemSource>& problems, bool more,
                                     const std::string& message) {
  if (record.state == "cancelled") {
    return FailedPrecondition(fmt::format("batch {} is cancelled; submit a new one", record.name));
  }
  bool added = false;
  for (int i = 0; i < problems.size(); ++i) {
    const v1::ProblemSource& problem = problems[i];
    const std::string key = KeyOf(problem);
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet there, transaction.Execute("batch_search_at", {record.id, key}));
    if (!there.empty()) {
      if (there[0].Text("source_sha256") == Sha256Hex(problem.source())) continue;
      return MakeStatus(absl::StatusCode::kAlreadyExists,
                        fmt::format("{}.problems[{}]: batch {} has another source as {} already; give {} another "
                                    "number or name, or submit it in a batch of its own",
                                    message, i, record.name, key, problem.name()));
    }
    engine::SearchPlace place = PlaceIn(record, key);
    place.level = problem.level();
    place.number = problem.number();
    WARPSMITH_RETURN_IF_ERROR(engine::InsertSearch(transaction, context_.queue, context_.executor.settings(),
                                                   SearchOf(problem, record.submitted_by), place)
                                  .status());
    added = true;
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet count, transaction.Execute("batch_search_count", {record.id}));
  if (count[0].Int("count") > kMostProblems) {
    return InvalidArgument(fmt::format("{}.problems: a batch has at most {} problems; make another one for the rest",
                                       message, kMostProblems));
  }
  if (!more && count[0].Int("count") == 0) {
    return InvalidArgument(message + ".problems is empty; a batch needs at least one problem");
  }
  // A batch that was done goes on with what was added; one that is assembled starts with the last of its problems.
  if (!more && (record.state == "assembling" || added)) {
    return transaction.Execute("batch_set_state", {record.id, "running"}).status();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> BatchOperations::Submit(const v1::SubmitBatchRequest& request) {
  const std::string message = "SubmitBatchRequest";
  if (request.name().empty()) return InvalidArgument(message + ".name is empty; give the batch a name");
  WARPSMITH_RETURN_IF_ERROR(engine::CheckLine(message + ".name", request.name(), 200));
  WARPSMITH_RETURN_IF_ERROR(engine::CheckLine(message + ".request_id", request.request_id(), 200));
  WARPSMITH_RETURN_IF_ERROR(engine::CheckLine(message + ".owner", request.owner(), 200));
  WARPSMITH_RETURN_IF_ERROR(engine::CheckLine(message + ".submitted_by", request.submitted_by(), 200));
  WARPSMITH_RETURN_IF_ERROR(CheckLimits(request.limits(), message + ".limits"));
  for (int i = 0; i < request.problems_size(); ++i) {
    WARPSMITH_RETURN_IF_ERROR(CheckProblem(request.problems(i), fmt::format("{}.problems[{}]", message, i)));
  }
  std::string id;
  absl::Status status = context_.database.Write([&](store::Transaction& transaction) -> absl::Status {
    id = store::NewId();
    const v1::BatchLimits& limits = request.limits();
    WARPSMITH_ASSIGN_OR_RETURN(
        const store::ResultSet inserted,
        transaction.Execute("batch_insert",
                            {id, request.name(), store::NullIfEmpty(request.request_id()),
                             request.owner().empty() ? request.submitted_by() : request.owner(), request.submitted_by(),
                             "assembling", limits.priority(), limits.parallel(), limits.max_gpu_hours() * 3600}));
    if (inserted.empty()) {
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet earlier,
                                 transaction.Execute("batch_by_request", {request.request_id()}));
      if (earlier.empty()) return Internal("two submissions of one request_id met; submit it again");
      id = earlier[0].Text("id");
    } else {
      WARPSMITH_RETURN_IF_ERROR(store::PutBatchBudget(transaction, id, {limits.max_usd(), limits.max_tokens()}));
    }
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("batch_lock", {id}).status());
    WARPSMITH_ASSIGN_OR_RETURN(const BatchRecord record, GetBatch(transaction, id));
    // The same submission again, after the batch had its end, changes nothing.
    if (inserted.empty() && record.state != "assembling") return absl::OkStatus();
    return AddAll(transaction, record, request.problems(), request.more(), message);
  });
  if (!status.ok()) return status;
  Tell({});
  return id;
}

absl::StatusOr<std::string> BatchOperations::Add(const v1::AddProblemsRequest& request) {
  for (int i = 0; i < request.problems_size(); ++i) {
    WARPSMITH_RETURN_IF_ERROR(CheckProblem(request.problems(i), fmt::format("AddProblemsRequest.problems[{}]", i)));
  }
  std::string id;
  absl::Status status = context_.database.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const BatchRecord record, Lock(transaction, request.batch_id()));
    id = record.id;
    return AddAll(transaction, record, request.problems(), request.more(), "AddProblemsRequest");
  });
  if (!status.ok()) return status;
  Tell({});
  return id;
}

absl::StatusOr<std::string> BatchOperations::SetPaused(const std::string& prefix, bool paused) {
  std::string id;
  std::vector<std::string> searches;
  absl::Status status = context_.database.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const BatchRecord record, Lock(transaction, prefix));
    id = record.id;
    WARPSMITH_RETURN_IF_ERROR(CheckOpen(record, paused ? "paused" : "resumed"));
    WARPSMITH_ASSIGN_OR_RETURN(searches, LockSearches(transaction, id));
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("batch_set_paused", {id, paused}).status());
    WARPSMITH_RETURN_IF_ERROR(
        transaction.Execute(paused ? "batch_pause_searches" : "batch_resume_searches", {id}).status());
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("task_hold_of_batch", {id}).status());
    for (const std::string& search : searches) {
      WARPSMITH_RETURN_IF_ERROR(
          store::AddEvent(transaction, search, paused ? "paused with its batch" : "resumed with its batch"));
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  Tell(searches);
  return id;
}

absl::StatusOr<std::string> BatchOperations::Cancel(const std::string& prefix) {
  std::string id;
  absl::Status status = context_.database.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const BatchRecord record, Lock(transaction, prefix));
    id = record.id;
    if (record.state == "cancelled") return absl::OkStatus();
    WARPSMITH_RETURN_IF_ERROR(CheckOpen(record, "cancelled"));
    return transaction.Execute("batch_set_state", {id, "cancelled"}).status();
  });
  if (!status.ok()) return status;
  WARPSMITH_RETURN_IF_ERROR(EndCancelled(context_, id));
  return id;
}

absl::StatusOr<std::string> BatchOperations::Set(const v1::SetBatchRequest& request) {
  WARPSMITH_RETURN_IF_ERROR(engine::CheckLine("SetBatchRequest.owner", request.owner(), 200));
  std::string id;
  absl::Status status = context_.database.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const BatchRecord record, Lock(transaction, request.batch_id()));
    id = record.id;
    v1::BatchLimits limits = record.limits;
    if (request.has_priority()) limits.set_priority(request.priority());
    if (request.has_parallel()) limits.set_parallel(request.parallel());
    if (request.has_max_usd()) limits.set_max_usd(request.max_usd());
    if (request.has_max_tokens()) limits.set_max_tokens(request.max_tokens());
    if (request.has_max_gpu_hours()) limits.set_max_gpu_hours(request.max_gpu_hours());
    WARPSMITH_RETURN_IF_ERROR(CheckLimits(limits, "SetBatchRequest"));
    const std::string owner = request.has_owner() ? request.owner() : record.owner;
    WARPSMITH_RETURN_IF_ERROR(LockSearches(transaction, id).status());
    WARPSMITH_RETURN_IF_ERROR(transaction
                                  .Execute("batch_set_limits", {id, limits.priority(), limits.parallel(),
                                                                limits.max_gpu_hours() * 3600, owner})
                                  .status());
    WARPSMITH_RETURN_IF_ERROR(store::PutBatchBudget(transaction, id, {limits.max_usd(), limits.max_tokens()}));
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("batch_unmark_spent", {id}).status());
    WARPSMITH_RETURN_IF_ERROR(
        transaction.Execute("batch_set_search_priority", {id, limits.priority(), owner}).status());
    const int up = limits.priority() - record.limits.priority();
    if (up == 0) return absl::OkStatus();
    return transaction.Execute("task_shift_priority", {id, up}).status();
  });
  if (!status.ok()) return status;
  Tell({});
  return id;
}

}  // namespace warpsmith::batch
