#include "coordinator/search/round_strategy.h"

#include <algorithm>
#include <cmath>

namespace warpsmith::search {
namespace {

void TakeProposals(const std::vector<Propose>& proposals, Budget* budget, std::vector<Action>* actions) {
  for (const Propose& propose : proposals) {
    if (budget->TakeModelCalls(1) == 1) actions->push_back(propose);
  }
}

// Measurements again that were ordered. One can dethrone a candidate and bring up another, so their number is bounded.
int Confirmations(const SnapshotIndex& index) {
  return static_cast<int>(std::count_if(index.tasks().begin(), index.tasks().end(),
                                        [](const TaskView* task) { return task->kind == TaskKind::kConfirm; }));
}

}  // namespace

bool RoundStrategy::Complete(const SnapshotIndex& index, const RoundProgress& progress) const {
  const bool last = index.snapshot().round >= index.values().rounds;
  if (last) return progress.settled >= progress.total && !index.AnyOpenTask();
  return progress.settled >= std::ceil(index.values().round_close_share * progress.total - 1e-9);
}

std::vector<Action> RoundStrategy::FollowUps(const SnapshotIndex& index, Budget* budget) const {
  std::vector<Action> actions;
  for (const CandidateView* c : index.candidates()) {
    if (c->state != CandidateState::kQueued || index.HasTask(TaskKind::kEvaluate, c->id)) continue;
    if (budget->TakeEvaluations(1) == 1) actions.push_back(Evaluate{c->id, "measure"});
  }
  const int count = Implementations(index.values());
  for (const IdeaView* idea : index.ideas()) {
    const int requested = index.Requested(*idea);
    if (requested >= count) continue;
    const int granted = budget->TakeModelCalls(count - requested);
    if (granted == 0) continue;
    Implement implement{idea->id, count, {}, idea->round};
    for (int i = 0; i < granted; ++i) implement.indexes.push_back(requested + i);
    actions.push_back(std::move(implement));
  }
  for (const CandidateView* c : index.candidates()) {
    if (index.WantsRepair(*c) && budget->TakeModelCalls(1) == 1)
      actions.push_back(Repair{c->id, c->repair_attempt + 1});
  }
  return actions;
}

std::vector<Action> RoundStrategy::End(const SnapshotIndex& index, Budget* budget, const std::string& reason) const {
  const int wanted = index.values().confirm;
  int confirmations = Confirmations(index);
  for (const TaskView* task : index.tasks()) {
    if (task->kind == TaskKind::kConfirm && task->state == TaskState::kOpen) return {};
  }
  std::vector<Action> actions;
  const std::vector<CandidateView> ranked = RankCandidates(index.snapshot());
  for (size_t i = 0; i < ranked.size() && i < static_cast<size_t>(wanted); ++i) {
    if (index.HasTask(TaskKind::kConfirm, ranked[i].id) || confirmations >= 2 * wanted) continue;
    if (budget->TakeEvaluations(1) == 0) {
      if (actions.empty() && !budget->evaluations_blocked()) return {};  // there will be room for it
      break;
    }
    actions.push_back(Evaluate{ranked[i].id, "confirm"});
    ++confirmations;
  }
  if (actions.empty()) actions.push_back(Finish{reason});
  return actions;
}

std::optional<std::vector<Action>> RoundStrategy::AtRoofline(const SnapshotIndex& index, Budget* budget) const {
  const SearchValues& values = index.values();
  const CandidateView* best = index.Fastest();
  if (values.stop_at_roofline_share <= 0 || best == nullptr || IsScreened(*best) ||
      !(best->roofline_share >= values.stop_at_roofline_share)) {
    return std::nullopt;
  }
  // Only a second measurement is believed. Nothing else is begun meanwhile: it would be wasted.
  if (index.HasOpenTask(TaskKind::kConfirm, best->id)) return std::vector<Action>{};
  if (values.confirm > 0 && !index.HasTask(TaskKind::kConfirm, best->id)) {
    if (Confirmations(index) >= 2 * values.confirm) return std::nullopt;
    if (budget->TakeEvaluations(1) == 1) return std::vector<Action>{Evaluate{best->id, "confirm"}};
    if (!budget->evaluations_blocked()) return std::vector<Action>{};
  }
  return End(index, budget, "roofline");
}

std::vector<Action> RoundStrategy::Open(const SnapshotIndex& index, Budget* budget, uint64_t seed,
                                        bool past_deadline) const {
  const SearchValues& values = index.values();
  std::vector<Action> actions = FollowUps(index, budget);
  std::vector<Propose> proposals = StartRound(index, seed);
  std::string reason;
  if (values.stop_after_rounds_without_gain > 0 && index.RoundsWithoutGain() >= values.stop_after_rounds_without_gain) {
    reason = "no_gain";
  } else if (!budget->CanStartRound()) {
    reason = "budget";
  } else if (proposals.empty()) {
    reason = "ideas_exhausted";
  } else {
    TakeProposals(proposals, budget, &actions);
    return actions;
  }
  // What is under way was paid for and may change the verdict.
  if (!actions.empty() || (index.AnyOpenTask() && !past_deadline)) return actions;
  return End(index, budget, reason);
}

std::vector<Action> RoundStrategy::Next(const Snapshot& snapshot, uint64_t /*decision_seq*/, uint64_t seed,
                                        int64_t now_us, const Capacity& capacity) const {
  // The decision's number is left out on purpose: how many decisions came before depends on when results arrived, and
  // the same tree should grow the same way.
  const SnapshotIndex index(snapshot);
  Budget budget(index, capacity);
  const int round = std::max(1, snapshot.round);
  if (std::optional<std::vector<Action>> stop = AtRoofline(index, &budget)) return *std::move(stop);
  if (round > snapshot.values.rounds) {
    return End(index, &budget, snapshot.usage.calls_refused ? "budget" : "rounds");
  }
  const double elapsed = static_cast<double>(now_us - snapshot.round_started_us) * 1e-6;
  const bool past_deadline = elapsed >= snapshot.values.round_deadline_seconds;
  if (!index.RoundStarted(round)) return Open(index, &budget, seed, past_deadline);

  std::vector<Action> actions = FollowUps(index, &budget);
  const RoundProgress progress = index.Progress(round, Implementations(snapshot.values));
  const bool idle = actions.empty() && !index.AnyOpenTask(round);
  // A deadline is for stragglers. A round in which nothing at all came back waits: its machines are away.
  bool close = Complete(index, progress) || (past_deadline && (progress.settled > 0 || idle));
  if (!close && idle) {
    TakeProposals(ContinueRound(index), &budget, &actions);
    close = actions.empty() && budget.blocked() && !index.AnyOpenTask();
  }
  if (close) actions.push_back(CloseRound{round});
  return actions;
}

}  // namespace warpsmith::search
