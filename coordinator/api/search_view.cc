#include "coordinator/api/search_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "coordinator/api/audit_act.h"
#include "coordinator/engine/narrator.h"
#include "coordinator/store/blob_store.h"

namespace warpsmith::api {
namespace {

absl::StatusOr<std::string> Resolve(store::Transaction& transaction, const std::string& prefix,
                                    const std::string& statement, const std::string& field,
                                    const std::string& command) {
  const bool clean = std::all_of(prefix.begin(), prefix.end(),
                                 [](unsigned char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); });
  if (prefix.size() < 6 || prefix.size() > 64 || !clean) {
    return InvalidArgument(
        fmt::format("{}: give at least 6 of the id's letters and digits; `{}` shows the ids", field, command));
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute(statement, {prefix}));
  if (rows.empty())
    return NotFound(fmt::format("{}: nothing has the id {}; `{}` shows the ids", field, prefix, command));
  if (rows.size() > 1 && rows[0].Text("id") != prefix) {
    return InvalidArgument(fmt::format("{}: more than one id begins with {}; give more of it", field, prefix));
  }
  return rows[0].Text("id");
}

v1::Candidate Convert(const store::CandidateRecord& record) {
  v1::Candidate candidate;
  candidate.set_id(record.id);
  candidate.set_search_id(record.search_id);
  candidate.set_idea_id(record.idea_id);
  candidate.set_parent_id(record.parent_id);
  candidate.set_round(record.round);
  candidate.set_index(record.index);
  candidate.set_repair_attempt(record.repair_attempt);
  candidate.set_repair_of(record.repair_of);
  candidate.set_source_sha256(record.source_sha256);
  candidate.set_state(record.state);
  candidate.set_model(record.model);
  candidate.set_reject_reason(record.reject_reason);
  candidate.set_duplicate_of(record.duplicate_of);
  candidate.set_twin_of(record.twin_of);
  if (record.state == "done") {
    *candidate.mutable_evaluation() = record.evaluation;
    // A candidate that was given up has an outcome but no evaluation.
    candidate.mutable_evaluation()->set_outcome(record.outcome);
    candidate.mutable_evaluation()->set_reason(record.reason);
    if (candidate.evaluation().message().empty()) candidate.mutable_evaluation()->set_message(record.message);
  } else if (record.state == "rejected") {
    candidate.mutable_evaluation()->set_message(record.reject_message);
  }
  return candidate;
}

v1::Idea InjectedIdea(const store::CandidateRecord& candidate) {
  v1::Idea idea;
  idea.set_title(candidate.title.empty() ? "injected kernel" : candidate.title);
  idea.set_origin("operator");
  return idea;
}

}  // namespace

absl::StatusOr<std::string> ResolveSearch(store::Transaction& transaction, const std::string& prefix) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string id,
                             Resolve(transaction, prefix, "search_by_prefix", "search_id", "warpsmith list"));
  NoteSearch(id);
  return id;
}
absl::StatusOr<std::string> ResolveCandidate(store::Transaction& transaction, const std::string& prefix) {
  return Resolve(transaction, prefix, "candidate_by_prefix", "candidate_id", "warpsmith tree");
}

absl::StatusOr<v1::Search> ViewSearch(store::Transaction& transaction, const std::string& search_id, bool with_source) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord record, store::GetSearch(transaction, search_id));
  v1::Search search;
  search.set_id(record.id);
  search.set_name(record.name);
  search.set_state(record.state);
  search.set_error(record.error);
  *search.mutable_settings() = record.settings;
  v1::Problem* problem = search.mutable_problem();
  problem->set_id(record.problem_id);
  problem->set_name(record.name);
  *problem->mutable_signature() = record.signature;
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::Baseline> baselines, store::GetBaselines(transaction, search_id));
  for (const v1::Baseline& baseline : baselines) *problem->add_baselines() = baseline;
  if (with_source) {
    WARPSMITH_ASSIGN_OR_RETURN(*problem->mutable_source(), store::GetBlob(transaction, record.problem_sha256));
  }
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::RoundSummary> rounds,
                             engine::SummarizeRounds(transaction, search_id));
  for (const v1::RoundSummary& round : rounds) *search.add_rounds() = round;
  search.set_best_candidate_id(record.best_candidate_id);
  search.set_best_ms(record.best_ms);
  search.set_best_ratio_to_eager(record.best_ratio);
  WARPSMITH_ASSIGN_OR_RETURN(*search.mutable_usage(), store::GetUsage(transaction, search_id));
  search.set_submitted_at_us(record.submitted_us);
  search.set_finished_at_us(record.finished_us);
  search.set_finish_reason(record.finish_reason);
  search.set_batch_id(record.batch_id);
  search.set_submitted_by(record.submitted_by);
  search.set_emulated(record.emulated);
  search.set_priority(record.priority);
  search.set_paused(record.paused);
  search.set_admitted(record.admitted);
  search.set_granted_rounds(record.granted_rounds);
  search.set_stop_reason(record.stop_reason);
  return search;
}

absl::StatusOr<v1::Tree> ViewTree(store::Transaction& transaction, const std::string& search_id) {
  v1::Tree tree;
  WARPSMITH_ASSIGN_OR_RETURN(*tree.mutable_search(), ViewSearch(transaction, search_id, false));
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::IdeaRecord> ideas, store::GetIdeas(transaction, search_id));
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::CandidateRecord> candidates,
                             store::GetCandidates(transaction, search_id, true));
  std::map<std::string, int> place;
  for (const store::IdeaRecord& idea : ideas) {
    place[idea.idea.id()] = tree.ideas_size();
    v1::IdeaNode* node = tree.add_ideas();
    *node->mutable_idea() = idea.idea;
    node->set_parent_id(idea.parent_id);
    node->set_round(idea.round);
  }
  std::map<std::string, std::string> parents;
  for (const store::CandidateRecord& candidate : candidates) {
    parents[candidate.id] = candidate.parent_id;
    v1::Candidate view = Convert(candidate);
    // A tree is for reading: logs and samples are in GetCandidate.
    view.mutable_evaluation()->mutable_compile()->clear_log();
    view.mutable_evaluation()->mutable_timing()->clear_sample_ms();
    // A tree shows what bounds a kernel; its counters come with the candidate alone.
    if (view.evaluation().has_profile()) {
      v1::Profile* profile = view.mutable_evaluation()->mutable_profile();
      profile->clear_metrics();
      profile->clear_steps();
      profile->clear_figures();
    }
    const auto found = place.find(candidate.idea_id);
    v1::IdeaNode* node = nullptr;
    if (found != place.end()) {
      node = tree.mutable_ideas(found->second);
    } else {
      node = tree.add_ideas();
      *node->mutable_idea() = InjectedIdea(candidate);
      node->set_parent_id(candidate.parent_id);
      node->set_round(candidate.round);
    }
    *node->add_candidates() = std::move(view);
  }
  std::vector<std::string> lineage;
  std::string at = tree.search().best_candidate_id();
  while (!at.empty() && lineage.size() <= candidates.size()) {
    lineage.push_back(at);
    at = parents[at];
  }
  for (auto id = lineage.rbegin(); id != lineage.rend(); ++id) tree.add_best_lineage(*id);
  return tree;
}

absl::StatusOr<v1::Candidate> ViewCandidate(store::Transaction& transaction, const std::string& candidate_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord record, store::GetCandidate(transaction, candidate_id));
  v1::Candidate candidate = Convert(record);
  if (!record.source_sha256.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(*candidate.mutable_source(), store::GetBlob(transaction, record.source_sha256));
  }
  if (record.idea_id.empty()) {
    *candidate.mutable_idea() = InjectedIdea(record);
  } else {
    WARPSMITH_ASSIGN_OR_RETURN(const store::IdeaRecord idea, store::GetIdea(transaction, record.idea_id));
    *candidate.mutable_idea() = idea.idea;
  }
  return candidate;
}

}  // namespace warpsmith::api
