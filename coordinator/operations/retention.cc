#include "coordinator/operations/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace warpsmith::operations {
namespace {

constexpr double kSecondsADay = 86400;
// A blob is put in some time before the row that refers to it.
constexpr double kYoungestBlobSeconds = 6 * 3600;

// The suffix of the statements that find a search and mark it as done.
const char* StatementOf(Kept kept) {
  switch (kept) {
    case Kept::kFinishedTasks:
      return "tasks";
    case Kept::kEvaluationBodies:
      return "bodies";
    case Kept::kRawReplies:
      return "raw_replies";
    default:
      return "events";
  }
}

}  // namespace

std::string KeptName(Kept kept) {
  switch (kept) {
    case Kept::kFinishedTasks:
      return "finished_tasks";
    case Kept::kEvaluationBodies:
      return "evaluation_bodies";
    case Kept::kRawReplies:
      return "raw_replies";
    case Kept::kEvents:
      return "events";
    case Kept::kBlobs:
      return "blobs";
  }
  return "";
}

void Trim(v1::Evaluation* evaluation) {
  evaluation->mutable_timing()->clear_sample_ms();
  if (!evaluation->has_profile()) return;
  v1::Profile kept;
  kept.set_bound_by(evaluation->profile().bound_by());
  kept.set_summary(evaluation->profile().summary());
  kept.set_unavailable_reason(evaluation->profile().unavailable_reason());
  kept.set_chip(evaluation->profile().chip());
  *evaluation->mutable_profile() = std::move(kept);
}

double Retention::Days(Kept kept) const {
  switch (kept) {
    case Kept::kFinishedTasks:
      return settings_.finished_task_days;
    case Kept::kEvaluationBodies:
      return settings_.evaluation_body_days;
    case Kept::kRawReplies:
      return settings_.raw_reply_days;
    case Kept::kEvents:
      return settings_.event_days;
    case Kept::kBlobs:
      return settings_.blob_days;
  }
  return 0;
}

absl::StatusOr<bool> Retention::Step() {
  bool more = false;
  absl::Status first_error;
  for (const Kept kept : kAllKept) {
    if (Days(kept) <= 0) continue;
    auto stepped = kept == Kept::kBlobs ? Blobs() : OfSearch(kept);
    if (stepped.ok()) {
      more |= *stepped;
    } else if (first_error.ok()) {
      first_error = Annotate(stepped.status(), "retention of " + KeptName(kept));
    }
  }
  if (!first_error.ok()) return first_error;
  return more;
}

absl::StatusOr<bool> Retention::OfSearch(Kept kept) {
  const std::string statement = StatementOf(kept);
  bool more = false;
  int64_t removed = 0;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    more = false;
    removed = 0;
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet found,
                               transaction.Execute("retention_search_of_" + statement, {Days(kept) * kSecondsADay}));
    if (found.empty()) return absl::OkStatus();
    more = true;
    const std::string search_id = found[0].Text("id");
    if (kept == Kept::kEvaluationBodies) {
      WARPSMITH_ASSIGN_OR_RETURN(removed, TrimBodies(transaction, search_id));
    } else {
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                                 transaction.Execute("retention_" + statement, {search_id, settings_.batch}));
      removed = rows[0].Int("removed");
    }
    if (removed >= settings_.batch) return absl::OkStatus();
    return transaction.Execute("retention_" + statement + "_done", {search_id}).status();
  });
  if (!status.ok()) return status;
  removed_[static_cast<size_t>(kept)] += removed;
  return more;
}

absl::StatusOr<int64_t> Retention::TrimBodies(store::Transaction& transaction, const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("retention_bodies_find", {search_id, settings_.batch}));
  std::vector<int64_t> ids;
  std::vector<std::string> bodies;
  for (const store::Row row : rows) {
    std::string body = row.Blob("body");
    // One that cannot be read is left as it is, but not looked at again.
    if (v1::Evaluation evaluation; evaluation.ParseFromString(body)) {
      Trim(&evaluation);
      body = evaluation.SerializeAsString();
    }
    ids.push_back(row.Int("id"));
    bodies.emplace_back(store::Parameter(store::Bytes{body}).text());
  }
  if (!ids.empty()) {
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("retention_bodies_put", {ids, bodies}).status());
  }
  return static_cast<int64_t>(ids.size());
}

absl::StatusOr<bool> Retention::Blobs() {
  if (blobs_done_) return false;
  std::string last;
  int64_t removed = 0;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    const double age = std::max(kYoungestBlobSeconds, settings_.blob_days * kSecondsADay);
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                               transaction.Execute("retention_blobs", {last_blob_, settings_.batch, age}));
    last = rows[0].Text("last_sha256");
    removed = rows[0].Int("removed");
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  removed_[static_cast<size_t>(Kept::kBlobs)] += removed;
  last_blob_ = last;
  blobs_done_ = last.empty();
  return !blobs_done_;
}

}  // namespace warpsmith::operations
