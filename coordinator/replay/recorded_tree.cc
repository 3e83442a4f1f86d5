#include "coordinator/replay/recorded_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpsmith::replay {
namespace {

// A surrogate idea is one of so many whose parents were nearest in speed.
constexpr size_t kNearest = 12;

double Finite(double value) { return std::isfinite(value) ? value : 0; }

bool Correct(const Attempt& attempt) { return !attempt.rejected && attempt.outcome == v1::OUTCOME_OK; }

Attempt AttemptOf(const v1::RecordedCandidate& candidate) {
  Attempt attempt;
  attempt.rejected = candidate.rejected();
  attempt.outcome = candidate.outcome();
  attempt.reason = candidate.reason();
  attempt.log_ratio = Finite(candidate.log_ratio());
  attempt.spread = std::max(0.0, Finite(candidate.spread()));
  attempt.median_ms = std::max(0.0, Finite(candidate.median_ms()));
  attempt.gpu_seconds = std::max(0.0, Finite(candidate.gpu_seconds()));
  attempt.seconds = std::max(attempt.gpu_seconds, Finite(candidate.seconds()));
  return attempt;
}

}  // namespace

absl::StatusOr<RecordedTree> RecordedTree::Make(const v1::Recording& recording) {
  RecordedTree tree;
  tree.name_ = recording.name();
  tree.settings_ = recording.settings();
  std::map<std::string, int> attempt_of, idea_of;
  for (const v1::RecordedCandidate& candidate : recording.candidates()) {
    // Calls for kernels that were under way when the search ended have no result to replay.
    if (!candidate.rejected() && candidate.outcome() == v1::OUTCOME_UNSPECIFIED) continue;
    attempt_of[candidate.id()] = static_cast<int>(tree.attempts_.size());
    tree.attempts_.push_back(AttemptOf(candidate));
  }
  for (const v1::RecordedIdea& idea : recording.ideas()) {
    TreeIdea& entry = tree.ideas_.emplace_back();
    entry.category = idea.category();
    entry.title = idea.title();
    const auto parent = attempt_of.find(idea.parent_id());
    // A parent that is no kernel of this search is a bank's: its speed on this problem is not known.
    entry.parent = idea.parent_id().empty() ? kModule : parent == attempt_of.end() ? kUnrecorded : parent->second;
    if (entry.parent >= 0) entry.parent_log_ratio = tree.attempts_[static_cast<size_t>(entry.parent)].log_ratio;
    idea_of[idea.id()] = static_cast<int>(tree.ideas_.size()) - 1;
  }
  bool any_correct = false;
  for (const v1::RecordedCandidate& candidate : recording.candidates()) {
    const auto at = attempt_of.find(candidate.id());
    if (at == attempt_of.end()) continue;
    Attempt& attempt = tree.attempts_[static_cast<size_t>(at->second)];
    const auto idea = idea_of.find(candidate.idea_id());
    if (idea != idea_of.end()) {
      TreeIdea& entry = tree.ideas_[static_cast<size_t>(idea->second)];
      attempt.gain = attempt.log_ratio - entry.parent_log_ratio;
      if (candidate.repair_attempt() == 0) entry.attempts.push_back(at->second);
    }
    const auto failed = attempt_of.find(candidate.repair_of());
    if (failed != attempt_of.end()) tree.attempts_[static_cast<size_t>(failed->second)].repairs.push_back(at->second);
    if (!Correct(attempt)) continue;
    tree.best_log_ratio_ = any_correct ? std::max(tree.best_log_ratio_, attempt.log_ratio) : attempt.log_ratio;
    tree.worst_log_ratio_ = any_correct ? std::min(tree.worst_log_ratio_, attempt.log_ratio) : attempt.log_ratio;
    any_correct = true;
  }
  // An idea of which nothing came says nothing about what would have come of it.
  for (size_t i = 0; i < tree.ideas_.size(); ++i) {
    if (tree.ideas_[i].attempts.empty()) continue;
    tree.ideas_of_[tree.ideas_[i].parent].push_back(static_cast<int>(i));
    tree.by_parent_speed_.push_back(static_cast<int>(i));
  }
  if (tree.by_parent_speed_.empty()) {
    return FailedPrecondition(fmt::format(
        "search {} has no idea with an evaluated implementation, so nothing of it can be replayed; choose another one",
        recording.search_id()));
  }
  std::stable_sort(tree.by_parent_speed_.begin(), tree.by_parent_speed_.end(), [&](int a, int b) {
    return tree.ideas_[static_cast<size_t>(a)].parent_log_ratio < tree.ideas_[static_cast<size_t>(b)].parent_log_ratio;
  });
  for (const v1::RecordedCall& call : recording.calls()) {
    tree.calls_[call.kind()].push_back({static_cast<double>(std::max<int64_t>(0, call.tokens())),
                                        std::max(0.0, Finite(call.usd())), std::max(0.0, Finite(call.seconds()))});
  }
  return tree;
}

const std::vector<int>& RecordedTree::IdeasOf(int parent) const {
  static const std::vector<int> kNone;
  const auto it = ideas_of_.find(parent);
  return it == ideas_of_.end() ? kNone : it->second;
}

const std::vector<CallCost>& RecordedTree::Calls(const std::string& kind) const {
  static const std::vector<CallCost> kNone;
  const auto it = calls_.find(kind);
  return it == calls_.end() ? kNone : it->second;
}

int Draws::TakeOne(std::vector<int>& from) {
  const size_t at = Below(from.size());
  const int taken = from[at];
  from[at] = from.back();
  from.pop_back();
  return taken;
}

DrawnAttempt Draws::Transplant(int attempt, double base) {
  DrawnAttempt drawn;
  drawn.attempt = attempt;
  drawn.surrogate = true;
  drawn.base = base;
  drawn.log_ratio = std::min(base + tree_.attempts()[static_cast<size_t>(attempt)].gain, tree_.best_log_ratio());
  return drawn;
}

DrawnIdea Draws::Idea(int parent, double parent_log_ratio) {
  ++ideas_;
  DrawnIdea drawn;
  drawn.base = parent_log_ratio;
  auto [unused, is_new] = unused_ideas_.try_emplace(parent);
  if (is_new && parent != kUnrecorded) unused->second = tree_.IdeasOf(parent);
  if (!unused->second.empty()) {
    drawn.idea = TakeOne(unused->second);
  } else {
    ++surrogate_ideas_;
    drawn.surrogate = true;
    const std::vector<int>& sorted = tree_.ByParentSpeed();
    const auto speed = [&](int idea) { return tree_.ideas()[static_cast<size_t>(idea)].parent_log_ratio; };
    size_t first = static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), parent_log_ratio,
                                                        [&](int idea, double value) { return speed(idea) < value; }) -
                                       sorted.begin());
    size_t last = first;
    while (last - first < std::min(kNearest, sorted.size())) {
      const bool down = first > 0 && (last == sorted.size() || parent_log_ratio - speed(sorted[first - 1]) <=
                                                                   speed(sorted[last]) - parent_log_ratio);
      down ? --first : ++last;
    }
    drawn.idea = sorted[first + Below(last - first)];
  }
  drawn.unused = tree_.ideas()[static_cast<size_t>(drawn.idea)].attempts;
  return drawn;
}

DrawnAttempt Draws::Implementation(DrawnIdea& idea) {
  ++attempts_;
  if (!idea.surrogate && !idea.unused.empty()) {
    DrawnAttempt drawn;
    drawn.attempt = TakeOne(idea.unused);
    drawn.base = idea.base;
    drawn.log_ratio = tree_.attempts()[static_cast<size_t>(drawn.attempt)].log_ratio;
    return drawn;
  }
  ++surrogate_attempts_;
  if (!idea.unused.empty()) return Transplant(TakeOne(idea.unused), idea.base);
  const std::vector<int>& all = tree_.ideas()[static_cast<size_t>(idea.idea)].attempts;
  return Transplant(all[Below(all.size())], idea.base);
}

DrawnAttempt Draws::Repair(const DrawnAttempt& failed) {
  ++attempts_;
  const Attempt& attempt = tree_.attempts()[static_cast<size_t>(failed.attempt)];
  auto [unused, is_new] = unused_repairs_.try_emplace(failed.attempt);
  if (is_new) unused->second = attempt.repairs;
  if (!failed.surrogate && !unused->second.empty()) {
    DrawnAttempt drawn;
    drawn.attempt = TakeOne(unused->second);
    drawn.base = failed.base;
    drawn.log_ratio = tree_.attempts()[static_cast<size_t>(drawn.attempt)].log_ratio;
    return drawn;
  }
  ++surrogate_attempts_;
  // Repairs of the same outcome; else of any; else the failure stays what it is.
  std::vector<int> alike, any;
  for (const Attempt& other : tree_.attempts()) {
    any.insert(any.end(), other.repairs.begin(), other.repairs.end());
    if (other.outcome == attempt.outcome) alike.insert(alike.end(), other.repairs.begin(), other.repairs.end());
  }
  const std::vector<int>& pool = alike.empty() ? any : alike;
  return Transplant(pool.empty() ? failed.attempt : pool[Below(pool.size())], failed.base);
}

CallCost Draws::Call(const std::string& kind) {
  const std::vector<CallCost>& calls = tree_.Calls(kind);
  return calls.empty() ? CallCost{} : calls[Below(calls.size())];
}

}  // namespace warpsmith::replay
