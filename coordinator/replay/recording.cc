#include "coordinator/replay/recording.h"

namespace warpsmith::replay {

absl::StatusOr<v1::Recording> ReadRecording(store::Transaction& transaction, const std::string& search_id) {
  v1::Recording recording;
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, search_id));
  recording.set_search_id(search.id);
  recording.set_name(search.name);
  *recording.mutable_settings() = search.settings;
  recording.set_device_class(search.device_class);
  recording.set_emulated(search.emulated);
  recording.set_finish_reason(search.finish_reason);
  if (search.finished_us > search.submitted_us) {
    recording.set_seconds(static_cast<double>(search.finished_us - search.submitted_us) * 1e-6);
  }
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::IdeaRecord> ideas, store::GetIdeas(transaction, search_id));
  for (const store::IdeaRecord& idea : ideas) {
    v1::RecordedIdea& entry = *recording.add_ideas();
    entry.set_id(idea.idea.id());
    entry.set_parent_id(idea.parent_id);
    entry.set_round(idea.round);
    entry.set_category(idea.idea.category());
    entry.set_title(idea.idea.title());
    entry.set_operator_injected(idea.operator_injected);
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet candidates,
                             transaction.Execute("recording_candidates", {search_id}));
  for (const store::Row row : candidates) {
    v1::RecordedCandidate& entry = *recording.add_candidates();
    entry.set_id(row.Text("id"));
    entry.set_idea_id(row.Text("idea_id"));
    entry.set_index(static_cast<int>(row.Int("idx")));
    entry.set_repair_attempt(static_cast<int>(row.Int("repair_attempt")));
    entry.set_repair_of(row.Text("repair_of"));
    entry.set_rejected(row.Bool("rejected"));
    if (row.Text("state") == "done") entry.set_outcome(static_cast<v1::Outcome>(row.Int("outcome")));
    entry.set_reason(row.Text("reason"));
    entry.set_median_ms(row.Double("median_ms"));
    entry.set_spread(row.Double("spread"));
    entry.set_log_ratio(row.Double("log_ratio"));
    entry.set_gpu_seconds(row.Double("gpu_seconds"));
    entry.set_seconds(row.Double("seconds"));
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet calls, transaction.Execute("recording_calls", {search_id}));
  for (const store::Row row : calls) {
    v1::RecordedCall& entry = *recording.add_calls();
    entry.set_kind(row.Text("kind"));
    entry.set_tokens(row.Int("tokens"));
    entry.set_usd(row.Double("usd"));
    entry.set_seconds(row.Double("seconds"));
  }
  WARPSMITH_ASSIGN_OR_RETURN(*recording.mutable_usage(), store::GetUsage(transaction, search_id));
  return recording;
}

}  // namespace warpsmith::replay
