#include "coordinator/search/snapshot_index.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "coordinator/search/strategy.h"

namespace warpsmith::search {
namespace {

auto CandidateOrder(const CandidateView& c) { return std::tie(c.round, c.idea_id, c.index, c.repair_attempt, c.id); }

// Larger first; a ratio that is no number comes last.
double SortableRatio(const CandidateView& c) { return std::isfinite(c.log_ratio) ? c.log_ratio : -1e300; }

double HalfWidth(const CandidateView& c) { return std::isfinite(c.spread) && c.spread > 0 ? c.spread / 2 : 0; }

template <typename View, typename Less>
std::vector<const View*> Sorted(const std::vector<View>& views, Less less) {
  std::vector<const View*> sorted;
  sorted.reserve(views.size());
  for (const View& view : views) sorted.push_back(&view);
  std::sort(sorted.begin(), sorted.end(), [&](const View* a, const View* b) { return less(*a, *b); });
  return sorted;
}

std::vector<const CandidateView*> FastestFirst(const std::vector<const CandidateView*>& candidates) {
  std::vector<const CandidateView*> correct;
  for (const CandidateView* c : candidates) {
    if (IsCorrect(*c)) correct.push_back(c);
  }
  std::stable_sort(correct.begin(), correct.end(), [](const CandidateView* a, const CandidateView* b) {
    return SortableRatio(*a) > SortableRatio(*b);
  });
  return correct;
}

}  // namespace

bool IsRepairable(v1::Outcome outcome) {
  switch (outcome) {
    case v1::OUTCOME_PLAN_ERROR:
    case v1::OUTCOME_COMPILE_ERROR:
    case v1::OUTCOME_OUT_OF_MEMORY:
    case v1::OUTCOME_TIMEOUT:
    case v1::OUTCOME_ILLEGAL_ACCESS:
    case v1::OUTCOME_LAUNCH_ERROR:
    case v1::OUTCOME_OUT_OF_BOUNDS:
    case v1::OUTCOME_INPUT_MODIFIED:
    case v1::OUTCOME_UNWRITTEN_OUTPUT:
    case v1::OUTCOME_NON_FINITE:
    case v1::OUTCOME_WRONG_OUTPUT:
      return true;
    default:
      return false;
  }
}

bool IsCorrect(const CandidateView& candidate) {
  return candidate.state == CandidateState::kDone && candidate.outcome == v1::OUTCOME_OK;
}

bool IsScreened(const CandidateView& candidate) { return IsCorrect(candidate) && candidate.reason == "screened"; }

bool ClearlyFaster(const CandidateView& candidate, const CandidateView& other) {
  return SortableRatio(candidate) - HalfWidth(candidate) > SortableRatio(other) + HalfWidth(other);
}

std::vector<CandidateView> RankCandidates(const Snapshot& snapshot) {
  std::vector<CandidateView> ranked;
  for (const CandidateView* c : FastestFirst(SnapshotIndex(snapshot).candidates())) ranked.push_back(*c);
  return ranked;
}

SnapshotIndex::SnapshotIndex(const Snapshot& snapshot) : snapshot_(snapshot) {
  candidates_ = Sorted(snapshot.candidates, [](const CandidateView& a, const CandidateView& b) {
    return CandidateOrder(a) < CandidateOrder(b);
  });
  ideas_ = Sorted(snapshot.ideas, [](const IdeaView& a, const IdeaView& b) {
    return std::tie(a.round, a.id) < std::tie(b.round, b.id);
  });
  tasks_ = Sorted(snapshot.tasks, [](const TaskView& a, const TaskView& b) {
    return std::tie(a.round, a.kind, a.subject_id, a.parent_id, a.count, a.state) <
           std::tie(b.round, b.kind, b.subject_id, b.parent_id, b.count, b.state);
  });
  for (const CandidateView* c : candidates_) {
    candidate_by_id_[c->id] = c;
    if (!c->repair_of.empty()) repaired_.insert(c->repair_of);
    // Sorted by attempt: the last one stays.
    if (!c->idea_id.empty()) last_attempt_[{c->idea_id, c->index}] = c;
  }
  for (const IdeaView* idea : ideas_) {
    idea_by_id_[idea->id] = idea;
    ++children_[idea->parent_id];
  }
  exhausted_.insert(snapshot.exhausted_parents.begin(), snapshot.exhausted_parents.end());
  for (const TaskView* task : tasks_) {
    task_subjects_.insert({task->kind, task->subject_id});
    if (task->state != TaskState::kOpen) continue;
    open_subjects_.insert({task->kind, task->subject_id});
    open_rounds_.insert(task->round);
  }
}

const CandidateView* SnapshotIndex::FindCandidate(const std::string& id) const {
  auto it = candidate_by_id_.find(id);
  return it == candidate_by_id_.end() ? nullptr : it->second;
}

const IdeaView* SnapshotIndex::FindIdea(const std::string& id) const {
  auto it = idea_by_id_.find(id);
  return it == idea_by_id_.end() ? nullptr : it->second;
}

const CandidateView* SnapshotIndex::Fastest() const {
  const std::vector<const CandidateView*> order = FastestFirst(candidates_);
  return order.empty() ? nullptr : order.front();
}

std::string SnapshotIndex::Lineage(const CandidateView& candidate) const {
  const CandidateView* at = &candidate;
  // Each step goes up one candidate or over to a twin, so a longer walk means a cycle in the data.
  for (size_t step = 0; step <= 2 * candidates_.size(); ++step) {
    if (!at->twin_of.empty()) {
      const CandidateView* twin = FindCandidate(at->twin_of);
      if (twin == nullptr) return at->twin_of;
      at = twin;
      continue;
    }
    if (at->idea_id.empty()) return at->id;
    const CandidateView* parent = FindCandidate(at->parent_id);
    if (parent == nullptr) return at->idea_id;
    at = parent;
  }
  return candidate.idea_id;
}

int SnapshotIndex::Children(const std::string& candidate_id) const {
  auto it = children_.find(candidate_id);
  return it == children_.end() ? 0 : it->second;
}

bool SnapshotIndex::HasTask(TaskKind kind, const std::string& subject_id) const {
  return task_subjects_.count({kind, subject_id}) != 0;
}

bool SnapshotIndex::HasOpenTask(TaskKind kind, const std::string& subject_id) const {
  return open_subjects_.count({kind, subject_id}) != 0;
}

bool SnapshotIndex::RoundStarted(int round) const {
  return std::any_of(tasks_.begin(), tasks_.end(),
                     [&](const TaskView* task) { return task->kind == TaskKind::kPropose && task->round == round; });
}

bool SnapshotIndex::WantsRepair(const CandidateView& c) const {
  return c.state == CandidateState::kDone && IsRepairable(c.outcome) && !c.idea_id.empty() &&
         c.repair_attempt < values().repairs && repaired_.count(c.id) == 0 && !HasTask(TaskKind::kRepair, c.id);
}

int SnapshotIndex::Requested(const IdeaView& idea) const {
  int requested = std::max(0, idea.requested);
  for (const TaskView* task : tasks_) {
    if (task->kind == TaskKind::kImplement && task->subject_id == idea.id && requested == 0) requested = task->count;
  }
  return requested;
}

bool SnapshotIndex::Settled(const IdeaView& idea, int index) const {
  auto it = last_attempt_.find({idea.id, index});
  if (it == last_attempt_.end()) {
    return index < Requested(idea) && !HasOpenTask(TaskKind::kImplement, idea.id);  // asked for and lost
  }
  const CandidateView& last = *it->second;
  switch (last.state) {
    case CandidateState::kRejected:
      return true;
    case CandidateState::kDone:
      return !WantsRepair(last) && !HasOpenTask(TaskKind::kRepair, last.id);
    case CandidateState::kQueued:
    case CandidateState::kEvaluating:
      return HasTask(TaskKind::kEvaluate, last.id) && !HasOpenTask(TaskKind::kEvaluate, last.id);
  }
  return true;
}

RoundProgress SnapshotIndex::Progress(int round, int implementations) const {
  RoundProgress progress;
  for (const TaskView* task : tasks_) {
    if (task->kind == TaskKind::kPropose && task->round == round && task->state == TaskState::kOpen) {
      progress.total += task->count * implementations;
    }
  }
  for (const IdeaView* idea : ideas_) {
    if (idea->round != round) continue;
    progress.total += implementations;
    for (int index = 0; index < implementations; ++index) progress.settled += Settled(*idea, index) ? 1 : 0;
  }
  for (const CandidateView* c : candidates_) {
    if (c->round != round || !c->idea_id.empty()) continue;  // injected kernels
    ++progress.total;
    const bool waiting = c->state == CandidateState::kQueued || c->state == CandidateState::kEvaluating;
    const bool lost = HasTask(TaskKind::kEvaluate, c->id) && !HasOpenTask(TaskKind::kEvaluate, c->id);
    progress.settled += !waiting || lost ? 1 : 0;
  }
  return progress;
}

std::vector<const CandidateView*> SnapshotIndex::ParentOrder() const {
  std::vector<const CandidateView*> order = FastestFirst(candidates_);
  std::erase_if(order, [](const CandidateView* c) { return IsScreened(*c); });
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && !ClearlyFaster(*order[begin], *order[end])) ++end;
    std::stable_sort(order.begin() + static_cast<ptrdiff_t>(begin), order.begin() + static_cast<ptrdiff_t>(end),
                     [&](const CandidateView* a, const CandidateView* b) { return Children(a->id) < Children(b->id); });
    begin = end;
  }
  return order;
}

int SnapshotIndex::RoundsWithoutGain() const {
  const CandidateView* reference = nullptr;
  int without = 0;
  for (int round = 1; round < snapshot_.round; ++round) {
    const CandidateView* best = nullptr;
    for (const CandidateView* c : candidates_) {
      if (c->round == round && IsCorrect(*c) && (best == nullptr || SortableRatio(*c) > SortableRatio(*best))) best = c;
    }
    // The reference moves on a clear gain only, so many small gains add up to one.
    if (best != nullptr && (reference == nullptr || ClearlyFaster(*best, *reference))) {
      reference = best;
      without = 0;
    } else {
      ++without;
    }
  }
  return without;
}

}  // namespace warpsmith::search
