#include "coordinator/engine/reply_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coordinator/engine/candidate_intake.h"
#include "coordinator/search/numbers.h"
#include "coordinator/store/budgets.h"
#include "coordinator/store/text.h"

namespace warpsmith::engine {
namespace {

constexpr size_t kRawReplyBytes = 1u << 20;

// llm_call.position: a call's place in a list of ideas' calls, or an implementation's index; the calls before an
// implementation's last one (truncated, failed, refused) have 1000, 2000, ... added.
constexpr int kEarlierCall = 1000;

int64_t Count(int64_t value) { return std::max<int64_t>(0, value); }

NewCandidate FromImplementation(const v1::Implementation& implementation) {
  NewCandidate candidate;
  candidate.model =
      implementation.call().model().empty() ? implementation.call().provider() : implementation.call().model();
  if (implementation.status() == "ok") {
    candidate.source = implementation.source();
  } else {
    candidate.reject_reason = implementation.status().empty() ? "no_code" : implementation.status();
    candidate.reject_message = implementation.message();
  }
  return candidate;
}

// The search, locked before its candidates; state RUNNING is left to the caller to check.
absl::StatusOr<store::SearchRecord> LockSearch(store::Transaction& transaction, const queue::Task& task) {
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {task.search_id}).status());
  return store::GetSearch(transaction, task.search_id);
}

}  // namespace

absl::Status ReplyRecorder::StoreCalls(store::Transaction& transaction, const queue::Task& task, const CallOfTask& of,
                                       const v1::Implementation& implementation) {
  const int index = std::clamp(implementation.index(), 0, kEarlierCall - 1);
  int earlier = 0;
  for (const v1::ModelCall& call : implementation.earlier_calls()) {
    WARPSMITH_RETURN_IF_ERROR(StoreCall(transaction, task, of, index + kEarlierCall * ++earlier, call));
  }
  if (!implementation.has_call()) return absl::OkStatus();
  return StoreCall(transaction, task, of, index, implementation.call());
}

absl::Status ReplyRecorder::StoreCall(store::Transaction& transaction, const queue::Task& task, const CallOfTask& of,
                                      int position, const v1::ModelCall& call) {
  const std::string_view raw = std::string_view(call.raw_reply()).substr(0, kRawReplyBytes);
  return transaction
      .Execute("llm_call_insert", {of.idempotency_key,
                                   position,
                                   task.search_id,
                                   task.id,
                                   queue::TaskKindName(task.kind),
                                   task.round,
                                   store::CleanLine(call.provider(), 80),
                                   store::CleanLine(call.model(), 200),
                                   store::CleanLine(call.prompt_version(), 80),
                                   store::CleanLine(call.prompt_sha256(), 64),
                                   Count(call.input_tokens()),
                                   Count(call.cached_input_tokens()),
                                   Count(call.output_tokens()),
                                   Count(call.reasoning_tokens()),
                                   search::Amount(call.usd()),
                                   search::Amount(call.first_byte_seconds()),
                                   search::Amount(call.seconds()),
                                   call.tries(),
                                   store::CleanLine(call.finish_reason(), 40),
                                   store::CleanText(call.error(), 2000),
                                   store::Bytes{raw},
                                   of.reservation == 0 ? store::Parameter(std::nullopt) : of.reservation,
                                   Count(call.cache_write_5m_tokens()),
                                   Count(call.cache_write_1h_tokens()),
                                   store::CleanLine(call.price_id(), 80),
                                   call.estimated(),
                                   store::CleanLine(call.effort(), 40),
                                   store::CleanLine(call.prompt_variant(), 80),
                                   store::CleanLine(call.error_class(), 40),
                                   call.kept()})
      .status();
}

absl::Status ReplyRecorder::RecordIdeas(const queue::Task& task, const std::vector<ProposedIdeas>& proposed) {
  const std::string shortfall = proposed.empty() ? "" : proposed.back().reply.shortfall();
  bool usable = false;
  absl::Status recorded = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    usable = false;
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, LockSearch(transaction, task));
    std::vector<std::pair<const v1::Idea*, int64_t>> ideas;  // and the reservation that it came of
    for (const ProposedIdeas& part : proposed) {
      for (int i = 0; i < part.reply.calls_size(); ++i) {
        WARPSMITH_RETURN_IF_ERROR(StoreCall(transaction, task, part.call, i, part.reply.calls(i)));
      }
      for (const v1::Idea& idea : part.reply.ideas()) {
        if (!store::CleanLine(idea.title()).empty() && static_cast<int>(ideas.size()) < task.wanted) {
          ideas.emplace_back(&idea, part.call.reservation);
        }
      }
    }
    const auto settle = [&]() -> absl::Status {
      for (const ProposedIdeas& part : proposed) {
        WARPSMITH_RETURN_IF_ERROR(store::CloseReservation(transaction, part.call.reservation, false));
      }
      return absl::OkStatus();
    };
    const bool exhausted = shortfall.rfind("exhausted", 0) == 0;
    usable = !ideas.empty() || exhausted;
    if (!usable) return settle();
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::Task> done,
                               queue_.Complete(transaction, {{{task.id, task.epoch}, shortfall}}));
    if (done.empty() || search.state != v1::SEARCH_STATE_RUNNING) return settle();
    std::string titles;
    int position = 0;
    for (const auto& [from, reservation] : ideas) {
      v1::Idea idea = *from;
      idea.set_id(store::NewId());
      idea.set_title(store::CleanLine(idea.title(), 200));
      idea.set_island(task.attempt);
      WARPSMITH_RETURN_IF_ERROR(
          transaction
              .Execute("idea_insert", {idea.id(), task.search_id, task.parent_id, task.round, task.id, position++,
                                       std::nullopt, store::CleanLine(idea.category(), 60), idea.title(),
                                       store::CleanLine(idea.origin(), 100), store::Bytes{idea.SerializeAsString()}, 0,
                                       false, reservation == 0 ? store::Parameter(std::nullopt) : reservation})
              .status());
      titles += (titles.empty() ? "" : "; ") + idea.title();
    }
    std::string line = fmt::format("round {}: {} ideas: {}", task.round, ideas.size(), titles);
    if (ideas.empty()) line = fmt::format("round {}: no further ideas for this kernel", task.round);
    WARPSMITH_RETURN_IF_ERROR(store::AddEvent(transaction, task.search_id, line));
    return settle();
  });
  if (!recorded.ok()) return recorded;
  if (usable) return absl::OkStatus();
  return FailedPrecondition(shortfall.empty() ? "the models gave no usable idea"
                                              : "the models gave no usable idea: " + shortfall);
}

absl::Status ReplyRecorder::RecordImplementation(const queue::Task& task, const CallOfTask& call,
                                                 const v1::Implementation& implementation) {
  return database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, LockSearch(transaction, task));
    WARPSMITH_RETURN_IF_ERROR(StoreCalls(transaction, task, call, implementation));
    // An index that was not asked for would push another idea's count; a search that ended takes no more candidates.
    const bool wanted =
        std::find(task.indexes.begin(), task.indexes.end(), implementation.index()) != task.indexes.end();
    if (!wanted || search.state != v1::SEARCH_STATE_RUNNING) return absl::OkStatus();
    NewCandidate candidate = FromImplementation(implementation);
    candidate.reservation = call.reservation;
    candidate.idea_id = task.idea_id;
    candidate.parent_id = task.parent_id;
    candidate.round = task.round;
    candidate.index = implementation.index();
    return AddCandidate(transaction, queue_, settings_, search, candidate).status();
  });
}

absl::Status ReplyRecorder::RecordRepair(const queue::Task& task, const CallOfTask& call,
                                         const v1::Implementation& implementation) {
  return database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, LockSearch(transaction, task));
    v1::Implementation first = implementation;
    first.set_index(0);
    WARPSMITH_RETURN_IF_ERROR(StoreCalls(transaction, task, call, first));
    const auto settle = [&] { return store::CloseReservation(transaction, call.reservation, false); };
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::Task> done,
                               queue_.Complete(transaction, {{{task.id, task.epoch}, implementation.status()}}));
    if (done.empty() || search.state != v1::SEARCH_STATE_RUNNING) return settle();
    WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord failed,
                               store::GetCandidate(transaction, task.candidate_id));
    NewCandidate candidate = FromImplementation(implementation);
    candidate.idea_id = failed.idea_id;
    candidate.parent_id = failed.parent_id;
    candidate.repair_of = failed.id;
    candidate.round = failed.round;
    candidate.index = failed.index;
    candidate.repair_attempt = task.attempt;
    candidate.title = failed.title;
    candidate.reservation = call.reservation;
    WARPSMITH_RETURN_IF_ERROR(AddCandidate(transaction, queue_, settings_, search, candidate).status());
    return settle();
  });
}

absl::Status ReplyRecorder::Close(const CallOfTask& call, bool abandoned) {
  if (call.reservation == 0) return absl::OkStatus();
  return database_.Write([&](store::Transaction& transaction) -> absl::Status {
    return store::CloseReservation(transaction, call.reservation, abandoned);
  });
}

absl::Status ReplyRecorder::RecordEnd(const queue::Task& task, const std::string& result) {
  return database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {task.search_id}).status());
    return queue_.Complete(transaction, {{{task.id, task.epoch}, result}}).status();
  });
}

}  // namespace warpsmith::engine
