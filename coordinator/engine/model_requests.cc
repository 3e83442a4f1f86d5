#include "coordinator/engine/model_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/protocol_names.h"
#include "coordinator/bank/bank.h"
#include "coordinator/engine/problem_history.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/text.h"

namespace warpsmith::engine {
namespace {

constexpr int kTurnSources = 2;          // of the last turns; the prompt says that it leaves out the others'
constexpr size_t kMaxTurnMessage = 400;  // bytes
constexpr int kPatterns = 3;

// Models and what they may cost are the planner's to add.
void FillCall(const store::SearchRecord& search, const queue::Task& task, v1::CallContext* call) {
  call->set_idempotency_key(IdempotencyKey(task));
  call->set_search_id(search.id);
  call->set_round(task.round);
  call->set_seed(task.seed);
  *call->mutable_models() = search.settings.models();
}

absl::Status FillContext(store::Transaction& transaction, const store::SearchRecord& search,
                         v1::ProblemContext* context) {
  v1::Problem* problem = context->mutable_problem();
  problem->set_id(search.problem_id);
  problem->set_name(search.name);
  WARPSMITH_ASSIGN_OR_RETURN(*problem->mutable_source(), store::GetBlob(transaction, search.problem_sha256));
  *problem->mutable_signature() = search.signature;
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::Baseline> baselines, store::GetBaselines(transaction, search.id));
  for (const v1::Baseline& baseline : baselines) *problem->add_baselines() = baseline;
  *context->mutable_device() = search.device;
  for (int accepted : search.settings.accepted()) context->add_accepted(static_cast<v1::PrecisionClass>(accepted));
  if (context->accepted().empty()) context->add_accepted(v1::PRECISION_CLASS_FP32);
  context->set_frozen_weights(search.settings.frozen_weights());
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::BankPattern> patterns,
                             bank::Patterns(transaction, search, kPatterns));
  for (const v1::BankPattern& pattern : patterns) *context->add_patterns() = pattern;
  return absl::OkStatus();
}

absl::Status FillKernel(store::Transaction& transaction, const std::string& candidate_id, v1::ParentKernel* kernel) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord candidate, store::GetCandidate(transaction, candidate_id));
  kernel->set_candidate_id(candidate.id);
  WARPSMITH_ASSIGN_OR_RETURN(*kernel->mutable_source(), store::GetBlob(transaction, candidate.source_sha256));
  *kernel->mutable_evaluation() = candidate.evaluation;
  kernel->mutable_evaluation()->mutable_timing()->clear_sample_ms();
  if (kernel->evaluation().has_profile()) {
    // A prompt has the figures that tell most; the counters behind them stay here.
    v1::Profile* profile = kernel->mutable_evaluation()->mutable_profile();
    profile->clear_metrics();
    for (v1::ProfileStep& step : *profile->mutable_steps()) step.clear_metrics();
  }
  kernel->set_idea_title(candidate.title);
  if (!candidate.idea_id.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::IdeaRecord idea, store::GetIdea(transaction, candidate.idea_id));
    kernel->set_idea_title(idea.idea.title());
  }
  return absl::OkStatus();
}

v1::TriedIdea Tried(const store::IdeaRecord& idea, const std::vector<store::CandidateRecord>& candidates,
                    double parent_ms) {
  v1::TriedIdea tried;
  *tried.mutable_idea() = idea.idea;
  std::map<std::string, std::pair<int, std::string>> failures;  // class to count and example
  double best_ms = 0;
  for (const store::CandidateRecord& candidate : candidates) {
    if (candidate.idea_id != idea.idea.id()) continue;
    if (candidate.outcome == v1::OUTCOME_OK) {
      if (best_ms == 0 || candidate.median_ms < best_ms) best_ms = candidate.median_ms;
    } else if (candidate.state == "rejected" && candidate.reject_reason != "exhausted") {
      auto& failure = failures[candidate.reject_reason];
      ++failure.first;
      failure.second = candidate.reject_message;
    } else if (candidate.state == "done" && candidate.outcome != v1::OUTCOME_INFRA_ERROR) {
      auto& failure = failures[OutcomeName(candidate.outcome)];
      ++failure.first;
      failure.second = candidate.message;
    }
  }
  const auto most = std::max_element(failures.begin(), failures.end(),
                                     [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  const bool failed = most != failures.end();
  SetFate(best_ms, parent_ms, failed ? most->first : "", failed ? most->second.second : "", &tried);
  return tried;
}

// What became of a candidate, in few words.
v1::EarlierTurn Turn(const store::SearchRecord& search, const store::CandidateRecord& candidate,
                     const std::string& title) {
  v1::EarlierTurn turn;
  turn.set_idea_title(title);
  v1::Evaluation* evaluation = turn.mutable_evaluation();
  evaluation->set_outcome(candidate.outcome);
  const bool rejected = candidate.state == "rejected";
  evaluation->set_reason(rejected ? candidate.reject_reason : candidate.reason);
  const std::string message = store::CleanLine(rejected ? candidate.reject_message : candidate.message, 4096);
  std::string shown = store::CleanLine(message, kMaxTurnMessage);
  if (shown.size() < message.size()) shown += fmt::format(" [{} bytes more]", message.size() - shown.size());
  evaluation->set_message(shown);
  evaluation->mutable_timing()->set_median_ms(candidate.median_ms);
  evaluation->mutable_timing()->set_emulated(search.emulated);
  evaluation->set_ratio_to_eager(candidate.ratio_to_eager);
  return turn;
}

// Every candidate of a sequential search that has come to its end, oldest first, failures and repairs too. `shown` is
// the kernel whose source the request has anyway.
absl::Status FillEarlierTurns(store::Transaction& transaction, const store::SearchRecord& search,
                              const std::string& shown, google::protobuf::RepeatedPtrField<v1::EarlierTurn>* turns) {
  if (search.strategy != "sequential") return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::IdeaRecord> ideas, store::GetIdeas(transaction, search.id));
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<store::CandidateRecord> candidates,
                             store::GetCandidates(transaction, search.id, false));
  std::erase_if(candidates, [](const auto& c) { return c.state != "done" && c.state != "rejected"; });
  std::map<std::string, std::string> titles;
  for (const store::IdeaRecord& idea : ideas) titles[idea.idea.id()] = idea.idea.title();
  for (size_t i = 0; i < candidates.size(); ++i) {
    const store::CandidateRecord& candidate = candidates[i];
    std::string title = candidate.idea_id.empty() ? candidate.title : titles[candidate.idea_id];
    if (candidate.repair_attempt > 0) title += fmt::format(", repair {}", candidate.repair_attempt);
    v1::EarlierTurn* turn = turns->Add();
    *turn = Turn(search, candidate, title);
    if (i + kTurnSources < candidates.size() || candidate.id == shown || candidate.source_sha256.empty()) continue;
    WARPSMITH_ASSIGN_OR_RETURN(*turn->mutable_source(), store::GetBlob(transaction, candidate.source_sha256));
  }
  return absl::OkStatus();
}

}  // namespace

std::string IdempotencyKey(const queue::Task& task) {
  return fmt::format("{}/{}/{}", queue::TaskKindName(task.kind), task.id, task.failures);
}

absl::StatusOr<v1::ProposeIdeasRequest> MakeProposeRequest(store::Transaction& transaction,
                                                           const store::SearchRecord& search, const queue::Task& task) {
  v1::ProposeIdeasRequest request;
  FillCall(search, task, request.mutable_call());
  WARPSMITH_RETURN_IF_ERROR(FillContext(transaction, search, request.mutable_context()));
  if (!task.parent_id.empty()) {
    WARPSMITH_RETURN_IF_ERROR(FillKernel(transaction, task.parent_id, request.mutable_parent()));
  }
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::IdeaRecord> ideas, store::GetIdeas(transaction, search.id));
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::CandidateRecord> candidates,
                             store::GetCandidates(transaction, search.id, false));
  std::map<std::string, double> times;
  times[""] = search.eager_ms;
  for (const store::CandidateRecord& candidate : candidates) times[candidate.id] = candidate.median_ms;
  WARPSMITH_RETURN_IF_ERROR(AddEarlierSearches(transaction, search, &request));
  // All of them: the prompts fold what is too long, and say how much.
  for (const store::IdeaRecord& idea : ideas) {
    v1::TriedIdea* tried = request.add_tried();
    *tried = Tried(idea, candidates, times[idea.parent_id]);
    tried->set_parent_candidate_id(idea.parent_id);
  }
  request.set_count(task.wanted);
  return request;
}

void KeepOwnHistory(const store::SearchRecord& search, const queue::Task& task, v1::ProposeIdeasRequest* request) {
  if (search.strategy == "best_of_n") {
    request->clear_tried();
  } else if (search.strategy == "evolve") {
    auto* tried = request->mutable_tried();
    tried->erase(std::remove_if(tried->begin(), tried->end(),
                                [&](const v1::TriedIdea& one) {
                                  return one.idea().island() > 0 && one.idea().island() != task.attempt &&
                                         (one.parent_candidate_id() != task.parent_id || task.parent_id.empty());
                                }),
                 tried->end());
  }
}

absl::StatusOr<v1::ImplementIdeaRequest> MakeImplementRequest(store::Transaction& transaction,
                                                              const store::SearchRecord& search,
                                                              const queue::Task& task) {
  v1::ImplementIdeaRequest request;
  FillCall(search, task, request.mutable_call());
  WARPSMITH_RETURN_IF_ERROR(FillContext(transaction, search, request.mutable_context()));
  WARPSMITH_ASSIGN_OR_RETURN(const store::IdeaRecord idea, store::GetIdea(transaction, task.idea_id));
  *request.mutable_idea() = idea.idea;
  if (!idea.parent_id.empty()) {
    WARPSMITH_RETURN_IF_ERROR(FillKernel(transaction, idea.parent_id, request.mutable_parent()));
  }
  request.set_count(task.wanted);
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("candidate_indexes", {task.idea_id}));
  for (int index : task.indexes) {
    const bool there = std::any_of(rows.rows.begin(), rows.rows.end(),
                                   [&](const auto& row) { return row[0].value_or("") == std::to_string(index); });
    if (!there) request.add_indexes(index);
  }
  WARPSMITH_RETURN_IF_ERROR(FillEarlierTurns(transaction, search, idea.parent_id, request.mutable_earlier_turns()));
  return request;
}

absl::StatusOr<v1::RepairRequest> MakeRepairRequest(store::Transaction& transaction, const store::SearchRecord& search,
                                                    const queue::Task& task) {
  v1::RepairRequest request;
  FillCall(search, task, request.mutable_call());
  WARPSMITH_RETURN_IF_ERROR(FillContext(transaction, search, request.mutable_context()));
  WARPSMITH_RETURN_IF_ERROR(FillKernel(transaction, task.candidate_id, request.mutable_failed()));
  if (!task.idea_id.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::IdeaRecord idea, store::GetIdea(transaction, task.idea_id));
    *request.mutable_idea() = idea.idea;
  }
  request.set_attempt(task.attempt);
  WARPSMITH_RETURN_IF_ERROR(FillEarlierTurns(transaction, search, task.candidate_id, request.mutable_earlier_turns()));
  return request;
}

}  // namespace warpsmith::engine
