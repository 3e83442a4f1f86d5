#include "coordinator/engine/reply_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coordinator/engine/candidate_intake.h"
#include "coordinator/engine/model_requests.h"
#include "coordinator/store/text.h"

namespace warpsmith::engine {
namespace {

constexpr size_t kRawReplyBytes = 1u << 20;

double Finite(double value) { return std::isfinite(value) && value > 0 ? value : 0; }
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

absl::Status ReplyRecorder::StoreCall(store::Transaction& transaction, const queue::Task& task, int position,
                                      const v1::ModelCall& call) {
  const std::string_view raw = std::string_view(call.raw_reply()).substr(0, kRawReplyBytes);
  return transaction
      .Execute("llm_call_insert", {IdempotencyKey(task),
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
                                   Finite(call.usd()),
                                   Finite(call.first_byte_seconds()),
                                   Finite(call.seconds()),
                                   call.tries(),
                                   store::CleanLine(call.finish_reason(), 40),
                                   store::CleanText(call.error(), 2000),
                                   store::Bytes{raw}})
      .status();
}

absl::Status ReplyRecorder::RecordIdeas(const queue::Task& task, const v1::ProposeIdeasReply& reply) {
  bool usable = false;
  absl::Status recorded = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    usable = false;
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, LockSearch(transaction, task));
    for (int i = 0; i < reply.calls_size(); ++i) {
      WARPSMITH_RETURN_IF_ERROR(StoreCall(transaction, task, i, reply.calls(i)));
    }
    std::vector<const v1::Idea*> ideas;
    for (const v1::Idea& idea : reply.ideas()) {
      if (!store::CleanLine(idea.title()).empty() && static_cast<int>(ideas.size()) < task.wanted) {
        ideas.push_back(&idea);
      }
    }
    const bool exhausted = reply.shortfall().rfind("exhausted", 0) == 0;
    usable = !ideas.empty() || exhausted;
    if (!usable) return absl::OkStatus();
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::Task> done,
                               queue_.Complete(transaction, {{{task.id, task.epoch}, reply.shortfall()}}));
    if (done.empty() || search.state != v1::SEARCH_STATE_RUNNING) return absl::OkStatus();
    std::string titles;
    int position = 0;
    for (const v1::Idea* proposed : ideas) {
      v1::Idea idea = *proposed;
      idea.set_id(store::NewId());
      idea.set_title(store::CleanLine(idea.title(), 200));
      WARPSMITH_RETURN_IF_ERROR(
          transaction
              .Execute("idea_insert",
                       {idea.id(), task.search_id, task.parent_id, task.round, task.id, position++, std::nullopt,
                        store::CleanLine(idea.category(), 60), idea.title(), store::CleanLine(idea.origin(), 100),
                        store::Bytes{idea.SerializeAsString()}, 0, false})
              .status());
      titles += (titles.empty() ? "" : "; ") + idea.title();
    }
    std::string line = fmt::format("round {}: {} ideas: {}", task.round, ideas.size(), titles);
    if (ideas.empty()) line = fmt::format("round {}: no further ideas for this kernel", task.round);
    return store::AddEvent(transaction, task.search_id, line);
  });
  if (!recorded.ok()) return recorded;
  if (usable) return absl::OkStatus();
  return FailedPrecondition(reply.shortfall().empty() ? "the models gave no usable idea"
                                                      : "the models gave no usable idea: " + reply.shortfall());
}

absl::Status ReplyRecorder::RecordImplementation(const queue::Task& task, const v1::Implementation& implementation) {
  return database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, LockSearch(transaction, task));
    if (implementation.has_call()) {
      WARPSMITH_RETURN_IF_ERROR(StoreCall(transaction, task, implementation.index(), implementation.call()));
    }
    // An index that was not asked for would push another idea's count; a search that ended takes no more candidates.
    const bool wanted =
        std::find(task.indexes.begin(), task.indexes.end(), implementation.index()) != task.indexes.end();
    if (!wanted || search.state != v1::SEARCH_STATE_RUNNING) return absl::OkStatus();
    NewCandidate candidate = FromImplementation(implementation);
    candidate.idea_id = task.idea_id;
    candidate.parent_id = task.parent_id;
    candidate.round = task.round;
    candidate.index = implementation.index();
    return AddCandidate(transaction, queue_, settings_, search, candidate).status();
  });
}

absl::Status ReplyRecorder::RecordRepair(const queue::Task& task, const v1::Implementation& implementation) {
  return database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, LockSearch(transaction, task));
    if (implementation.has_call()) {
      WARPSMITH_RETURN_IF_ERROR(StoreCall(transaction, task, 0, implementation.call()));
    }
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::Task> done,
                               queue_.Complete(transaction, {{{task.id, task.epoch}, implementation.status()}}));
    if (done.empty() || search.state != v1::SEARCH_STATE_RUNNING) return absl::OkStatus();
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
    return AddCandidate(transaction, queue_, settings_, search, candidate).status();
  });
}

absl::Status ReplyRecorder::RecordEnd(const queue::Task& task) {
  return database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {task.search_id}).status());
    return queue_.Complete(transaction, {{{task.id, task.epoch}, ""}}).status();
  });
}

}  // namespace warpsmith::engine
