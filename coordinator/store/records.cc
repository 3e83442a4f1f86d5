#include "coordinator/store/records.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/protocol_names.h"
#include "coordinator/store/text.h"

namespace warpsmith::store {
namespace {

IdeaRecord IdeaFromRow(const Row& row) {
  IdeaRecord record;
  record.idea.ParseFromString(row.Blob("body"));
  record.idea.set_id(row.Text("id"));
  record.search_id = row.Text("search_id");
  record.parent_id = row.Text("parent_id");
  record.round = static_cast<int>(row.Int("round"));
  record.requested = static_cast<int>(row.Int("requested"));
  record.delivered = static_cast<int>(row.Int("delivered"));
  record.operator_injected = row.Bool("operator_injected");
  return record;
}

CandidateRecord CandidateFromRow(const Row& row) {
  CandidateRecord record;
  record.id = row.Text("id");
  record.search_id = row.Text("search_id");
  record.idea_id = row.Text("idea_id");
  record.parent_id = row.Text("parent_id");
  record.repair_of = row.Text("repair_of");
  record.duplicate_of = row.Text("duplicate_of");
  record.twin_of = row.Text("twin_of");
  record.reused = row.Bool("reused");
  record.round = static_cast<int>(row.Int("round"));
  record.index = static_cast<int>(row.Int("idx"));
  record.repair_attempt = static_cast<int>(row.Int("repair_attempt"));
  record.title = row.Text("title");
  record.model = row.Text("model");
  record.source_sha256 = row.Text("source_sha256");
  record.state = row.Text("state");
  record.reject_reason = row.Text("reject_reason");
  record.reject_message = row.Text("reject_message");
  record.outcome = static_cast<v1::Outcome>(row.Int("outcome"));
  record.reason = row.Text("reason");
  record.message = row.Text("message");
  record.median_ms = row.Double("median_ms");
  record.spread = row.Double("spread");
  record.log_ratio = row.Double("log_ratio");
  record.ratio_to_eager = row.Double("ratio_to_eager");
  if (!row.Null("body")) record.evaluation.ParseFromString(row.Blob("body"));
  return record;
}

}  // namespace

v1::SearchState ParseSearchState(const std::string& name) {
  for (int state = v1::SearchState_MIN; state <= v1::SearchState_MAX; ++state) {
    if (v1::SearchState_IsValid(state) && SearchStateName(static_cast<v1::SearchState>(state)) == name) {
      return static_cast<v1::SearchState>(state);
    }
  }
  return v1::SEARCH_STATE_UNSPECIFIED;
}

absl::StatusOr<SearchRecord> GetSearch(Transaction& transaction, const std::string& id) {
  WARPSMITH_ASSIGN_OR_RETURN(const ResultSet rows, transaction.Execute("search_get", {id}));
  if (rows.empty()) return NotFound(fmt::format("there is no search {}; `warpsmith list` shows those there are", id));
  const Row row = rows[0];
  SearchRecord record;
  record.id = row.Text("id");
  record.name = row.Text("name");
  record.problem_id = row.Text("problem_id");
  record.problem_sha256 = row.Text("source_sha256");
  record.batch_id = row.Text("batch_id");
  record.submitted_by = row.Text("submitted_by");
  record.state = ParseSearchState(row.Text("state"));
  record.error = row.Text("error");
  record.finish_reason = row.Text("finish_reason");
  record.settings.ParseFromString(row.Blob("settings"));
  record.intake.ParseFromString(row.Blob("intake_settings"));
  record.strategy = row.Text("strategy");
  record.seed = row.Int("seed");
  record.signature.ParseFromString(row.Blob("signature"));
  record.device.ParseFromString(row.Blob("device"));
  record.device_class = row.Text("device_class");
  record.emulated = row.Bool("emulated");
  record.operator_family = row.Text("operator_family");
  record.reuse_key = row.Text("reuse_key");
  record.eager_ms = row.Double("eager_ms");
  record.round = static_cast<int>(row.Int("round"));
  record.decision_seq = row.Int("decision_seq");
  record.best_candidate_id = row.Text("best_candidate_id");
  record.best_ms = row.Double("best_ms");
  record.best_ratio = row.Double("best_ratio");
  record.submitted_us = row.Int("submitted_us");
  record.finished_us = row.Int("finished_us");
  record.owner = row.Text("owner");
  record.priority = static_cast<int>(row.Int("priority"));
  record.paused = !row.Null("paused_at");
  record.admitted = row.Bool("admitted");
  record.granted_rounds = static_cast<int>(row.Int("granted_rounds"));
  record.stop_reason = row.Text("stop_reason");
  return record;
}

absl::StatusOr<std::vector<v1::Baseline>> GetBaselines(Transaction& transaction, const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const ResultSet rows, transaction.Execute("baseline_of_search", {search_id}));
  std::vector<v1::Baseline> baselines;
  for (const Row row : rows) baselines.emplace_back().ParseFromString(row.Blob("body"));
  return baselines;
}

absl::StatusOr<std::vector<IdeaRecord>> GetIdeas(Transaction& transaction, const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const ResultSet rows, transaction.Execute("idea_of_search", {search_id}));
  std::vector<IdeaRecord> ideas;
  for (const Row row : rows) ideas.push_back(IdeaFromRow(row));
  return ideas;
}

absl::StatusOr<IdeaRecord> GetIdea(Transaction& transaction, const std::string& id) {
  WARPSMITH_ASSIGN_OR_RETURN(const ResultSet rows, transaction.Execute("idea_get", {id}));
  if (rows.empty()) return NotFound(fmt::format("there is no idea {}", id));
  return IdeaFromRow(rows[0]);
}

absl::StatusOr<std::vector<CandidateRecord>> GetCandidates(Transaction& transaction, const std::string& search_id,
                                                           bool with_evaluations) {
  WARPSMITH_ASSIGN_OR_RETURN(
      const ResultSet rows,
      transaction.Execute(with_evaluations ? "candidate_of_search_with_evaluations" : "candidate_of_search",
                          {search_id}));
  std::vector<CandidateRecord> candidates;
  candidates.reserve(rows.size());
  for (const Row row : rows) candidates.push_back(CandidateFromRow(row));
  return candidates;
}

absl::StatusOr<CandidateRecord> GetCandidate(Transaction& transaction, const std::string& id) {
  WARPSMITH_ASSIGN_OR_RETURN(const ResultSet rows, transaction.Execute("candidate_get", {id}));
  if (rows.empty())
    return NotFound(fmt::format("there is no candidate {}; `warpsmith tree` shows those there are", id));
  return CandidateFromRow(rows[0]);
}

absl::StatusOr<v1::Usage> GetUsage(Transaction& transaction, const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const ResultSet rows, transaction.Execute("search_usage", {search_id}));
  v1::Usage usage;
  usage.set_usd(rows[0].Double("usd"));
  usage.set_input_tokens(rows[0].Int("input_tokens"));
  usage.set_output_tokens(rows[0].Int("output_tokens"));
  usage.set_gpu_seconds(rows[0].Double("gpu_seconds"));
  usage.set_model_calls(static_cast<int>(rows[0].Int("calls")));
  usage.set_abandoned_usd(rows[0].Double("lost_usd"));
  usage.set_abandoned_tokens(rows[0].Int("lost_tokens"));
  usage.set_reserved_usd(rows[0].Double("open_usd"));
  usage.set_reserved_tokens(rows[0].Int("open_tokens"));
  return usage;
}

absl::Status AddEvent(Transaction& transaction, const std::string& search_id, const std::string& line) {
  return transaction.Execute("event_insert", {search_id, CleanLine(line)}).status();
}

}  // namespace warpsmith::store
