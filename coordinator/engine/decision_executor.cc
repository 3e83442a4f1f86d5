#include "coordinator/engine/decision_executor.h"

#include <fmt/format.h>

#include "common/hash.h"
#include "common/protocol_names.h"
#include "coordinator/bank/admission.h"
#include "coordinator/bank/bank.h"
#include "coordinator/engine/candidate_intake.h"
#include "coordinator/engine/narrator.h"

namespace warpsmith::engine {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

absl::Status DecisionExecutor::PutTask(store::Transaction& transaction, const store::SearchRecord& record,
                                       queue::TaskSpec spec, const std::string& key) const {
  spec.dedupe_key = key;
  spec.search_id = record.id;
  spec.seed = static_cast<int64_t>(Sha256Prefix(fmt::format("{}/{}", record.seed, key.substr(record.id.size()))) >> 1);
  return queue_.Put(transaction, spec).status();
}

absl::Status DecisionExecutor::OpenFirstRound(store::Transaction& transaction, const store::SearchRecord& record,
                                              int64_t now_us) const {
  // What intake found out decides where evaluations fit.
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord accepted, store::GetSearch(transaction, record.id));
  WARPSMITH_RETURN_IF_ERROR(
      transaction.Execute("search_set_bytes_min", {record.id, accepted.signature.bytes_min()}).status());
  WARPSMITH_RETURN_IF_ERROR(bank::RefreshSeeds(transaction, record.id));
  return transaction.Execute("round_open", {record.id, 1, static_cast<double>(now_us), record.eager_ms}).status();
}

absl::Status DecisionExecutor::CloseRound(store::Transaction& transaction, const store::SearchRecord& record, int round,
                                          int64_t now_us) const {
  const double now = static_cast<double>(now_us);
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("round_close", {record.id, round, now}).status());
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_set_round", {record.id, round + 1}).status());
  WARPSMITH_RETURN_IF_ERROR(bank::RefreshSeeds(transaction, record.id));
  // The record was read before this transaction's own changes of the best.
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord now_record, store::GetSearch(transaction, record.id));
  const double best_before = now_record.best_ms > 0 ? now_record.best_ms : record.eager_ms;
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("round_open", {record.id, round + 1, now, best_before}).status());
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::RoundSummary> rounds, SummarizeRounds(transaction, record.id));
  for (const v1::RoundSummary& summary : rounds) {
    if (summary.round() == round) return store::AddEvent(transaction, record.id, ClosingLine(summary));
  }
  return absl::OkStatus();
}

absl::Status DecisionExecutor::Execute(store::Transaction& transaction, const store::SearchRecord& record,
                                       const std::vector<search::Action>& actions, int64_t now_us,
                                       std::vector<queue::CancelledTask>* cancelled) const {
  int place = 0;
  for (const search::Action& action : actions) {
    const std::string key = fmt::format("{}/{}/{}", record.id, record.decision_seq, place++);
    const auto carry_out = Overloaded{
        [&](const search::Propose& propose) -> absl::Status {
          queue::TaskSpec spec;
          spec.kind = queue::TaskKind::kPropose;
          spec.parent_id = propose.parent_id;
          spec.round = propose.round;
          spec.wanted = propose.count;
          spec.attempt = propose.island;
          // Attempts that are told nothing of each other need not wait for each other.
          if (record.strategy == "best_of_n") spec.stage = key;
          spec.deadline_seconds = settings_.propose_deadline_seconds;
          return PutTask(transaction, record, spec, key);
        },
        [&](const search::Implement& implement) -> absl::Status {
          WARPSMITH_ASSIGN_OR_RETURN(const store::IdeaRecord idea, store::GetIdea(transaction, implement.idea_id));
          queue::TaskSpec spec;
          spec.kind = queue::TaskKind::kImplement;
          spec.idea_id = implement.idea_id;
          spec.parent_id = idea.parent_id;
          spec.round = implement.round;
          spec.wanted = implement.count;
          spec.indexes = implement.indexes;
          spec.deadline_seconds = settings_.implement_deadline_seconds;
          WARPSMITH_RETURN_IF_ERROR(PutTask(transaction, record, spec, key));
          return transaction
              .Execute("idea_add_requested", {implement.idea_id, static_cast<int>(implement.indexes.size())})
              .status();
        },
        [&](const search::Repair& repair) -> absl::Status {
          WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord failed,
                                     store::GetCandidate(transaction, repair.candidate_id));
          queue::TaskSpec spec;
          spec.kind = queue::TaskKind::kRepair;
          spec.candidate_id = failed.id;
          spec.idea_id = failed.idea_id;
          spec.parent_id = failed.parent_id;
          spec.round = failed.round;
          spec.attempt = repair.attempt;
          spec.deadline_seconds = settings_.repair_deadline_seconds;
          return PutTask(transaction, record, spec, key);
        },
        [&](const search::Evaluate& evaluate) -> absl::Status {
          WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord candidate,
                                     store::GetCandidate(transaction, evaluate.candidate_id));
          return OrderEvaluation(transaction, queue_, settings_, record, candidate.id, candidate.round, evaluate.stage,
                                 key);
        },
        [&](const search::CloseRound& close) -> absl::Status {
          return CloseRound(transaction, record, close.round, now_us);
        },
        [&](const search::Finish& finish) -> absl::Status {
          // One that its batch ends is shown its last round as closed; the batch knows why.
          const bool stopped = finish.reason == "rounds" && !record.stop_reason.empty();
          return End(transaction, record, v1::SEARCH_STATE_DONE, stopped ? record.stop_reason : finish.reason, "",
                     now_us, cancelled)
              .status();
        }};
    WARPSMITH_RETURN_IF_ERROR(Annotate(std::visit(carry_out, action), "action " + std::to_string(place)));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> DecisionExecutor::End(store::Transaction& transaction, const store::SearchRecord& record,
                                           v1::SearchState state, const std::string& reason, const std::string& error,
                                           int64_t now_us, std::vector<queue::CancelledTask>* cancelled) const {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet ended,
                             transaction.Execute("search_end", {record.id, SearchStateName(state), error, reason}));
  if (ended.empty()) return false;
  WARPSMITH_RETURN_IF_ERROR(
      transaction.Execute("round_close", {record.id, record.round, static_cast<double>(now_us)}).status());
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<queue::CancelledTask> tasks,
                             queue_.CancelSearch(transaction, record.id, "the search has ended"));
  cancelled->insert(cancelled->end(), tasks.begin(), tasks.end());
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord final_record, store::GetSearch(transaction, record.id));
  WARPSMITH_ASSIGN_OR_RETURN(const bank::Harvest harvest, bank::CloseSearch(transaction, final_record));
  std::string line;
  if (state == v1::SEARCH_STATE_FAILED) {
    line = "failed: " + error;
  } else {
    line = fmt::format("{} ({})", SearchStateName(state), reason);
    line += final_record.best_ms > 0 ? ": best " + TimeText(final_record.best_ms, final_record.best_ratio)
                                     : ": no correct kernel was found";
    if (harvest.admitted > 0) {
      line += fmt::format("; {} kernels admitted to the bank", harvest.admitted);
    } else if (harvest.kernels > 0) {
      line += fmt::format("; {} kernels confirmed, which the bank had already", harvest.kernels);
    }
  }
  WARPSMITH_RETURN_IF_ERROR(store::AddEvent(transaction, record.id, line));
  return true;
}

}  // namespace warpsmith::engine
