#include "coordinator/replay/replayed_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <utility>
#include <variant>

#include "coordinator/search/snapshot_index.h"
#include "coordinator/search/strategy.h"

namespace warpsmith::replay {
namespace {

constexpr int kMostDecisions = 1 << 20;

// Equal machines with one queue: first come, first served.
class Servers {
 public:
  explicit Servers(int count) {
    for (int i = 0; i < std::max(1, count); ++i) free_at_.push(0);
  }
  // When work that is handed in at `now` is done.
  double Run(double now, double seconds) {
    const double start = std::max(now, free_at_.top());
    free_at_.pop();
    free_at_.push(start + seconds);
    return start + seconds;
  }

 private:
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at_;
};

class Run {
 public:
  Run(const RecordedTree& tree, const search::SearchValues& values, const Machines& machines, uint64_t seed)
      : tree_(tree), draws_(tree, seed), gpus_(machines.gpus), models_(machines.model_calls), seed_(seed) {
    snapshot_.search_id = "replay";
    snapshot_.values = values;
  }

  absl::StatusOr<ReplayedRun> ToEnd(const search::Strategy& strategy) {
    run_.progress.push_back(Now(false));
    for (int decision = 0; decision < kMostDecisions; ++decision) {
      const std::vector<search::Action> actions =
          strategy.Next(snapshot_, static_cast<uint64_t>(decision), seed_, Micros(), search::Capacity{});
      for (const search::Action& action : actions) Apply(action);
      if (!run_.finish_reason.empty()) return Finished();
      if (actions.empty() && !Advance()) {
        return Internal(fmt::format("strategy {} waits for nothing in round {}", strategy.name(), snapshot_.round));
      }
    }
    return Internal(fmt::format("strategy {} did not end a replay of search {} after {} decisions", strategy.name(),
                                tree_.name(), kMostDecisions));
  }

 private:
  struct Event {
    double at = 0;
    uint64_t order = 0;
    std::function<void()> happen;
    bool operator>(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  struct Idea {
    DrawnIdea drawn;
    size_t place = 0;  // in the snapshot
  };
  struct Kernel {
    DrawnAttempt drawn;
    size_t place = 0;
  };

  int64_t Micros() const { return static_cast<int64_t>(std::llround(now_ * 1e6)); }
  Progress Now(bool found) const {
    return {static_cast<double>(snapshot_.usage.tokens), snapshot_.usage.usd, snapshot_.usage.gpu_seconds, now_,
            found ? best_ : std::min(tree_.worst_log_ratio(), 0.0)};
  }
  ReplayedRun Finished() {
    run_.progress.push_back(Now(run_.found));
    run_.ideas = draws_.ideas();
    run_.surrogate_ideas = draws_.surrogate_ideas();
    run_.attempts = draws_.attempts();
    run_.surrogate_attempts = draws_.surrogate_attempts();
    return run_;
  }
  void At(double when, std::function<void()> happen) { events_.push({when, order_++, std::move(happen)}); }
  // A call to a model: its cost counts when it ends.
  void Call(const std::string& kind, std::function<void()> then) {
    const CallCost cost = draws_.Call(kind);
    At(models_.Run(now_, cost.seconds), [this, cost, then = std::move(then)] {
      snapshot_.usage.tokens += static_cast<int64_t>(std::llround(cost.tokens));
      snapshot_.usage.usd += cost.usd;
      ++snapshot_.usage.model_calls;
      then();
    });
  }
  // On to what happens next: the end of some work, or the round's deadline.
  bool Advance() {
    const double deadline =
        static_cast<double>(snapshot_.round_started_us) * 1e-6 + snapshot_.values.round_deadline_seconds;
    if (now_ < deadline && (events_.empty() || deadline < events_.top().at)) {
      now_ = deadline;
      return true;
    }
    if (events_.empty()) return false;
    now_ = std::max(now_, events_.top().at);
    while (!events_.empty() && events_.top().at <= now_) {
      const std::function<void()> happen = events_.top().happen;
      events_.pop();
      happen();
    }
    return true;
  }
  size_t Open(search::TaskView task) {
    task.state = search::TaskState::kOpen;
    snapshot_.tasks.push_back(std::move(task));
    return snapshot_.tasks.size() - 1;
  }
  void Close(size_t task) { snapshot_.tasks[task].state = search::TaskState::kDone; }

  // A strategy names what is in the snapshot it was given.
  search::IdeaView& FindIdea(const std::string& id) { return snapshot_.ideas[ideas_.at(id).place]; }
  search::CandidateView& FindCandidate(const std::string& id) { return snapshot_.candidates[kernels_.at(id).place]; }

  void AddIdea(const search::Propose& propose) {
    const auto parent = kernels_.find(propose.parent_id);
    const bool known = parent != kernels_.end();
    const int from = propose.parent_id.empty() ? kModule : known ? parent->second.drawn.AsParent() : kUnrecorded;
    DrawnIdea drawn = draws_.Idea(from, known ? parent->second.drawn.log_ratio : 0);
    const TreeIdea& recorded = tree_.ideas()[static_cast<size_t>(drawn.idea)];
    search::IdeaView idea;
    idea.id = fmt::format("idea{:06}", snapshot_.ideas.size());
    idea.parent_id = propose.parent_id;
    idea.category = recorded.category;
    idea.title = recorded.title;
    idea.round = propose.round;
    idea.island = propose.island;
    ideas_.emplace(idea.id, Idea{std::move(drawn), snapshot_.ideas.size()});
    snapshot_.ideas.push_back(std::move(idea));
  }

  void AddCandidate(search::CandidateView candidate, const DrawnAttempt& drawn) {
    candidate.id = fmt::format("kernel{:06}", snapshot_.candidates.size());
    candidate.state = tree_.attempts()[static_cast<size_t>(drawn.attempt)].rejected ? search::CandidateState::kRejected
                                                                                    : search::CandidateState::kQueued;
    kernels_.emplace(candidate.id, Kernel{drawn, snapshot_.candidates.size()});
    snapshot_.candidates.push_back(std::move(candidate));
  }

  void Measured(const std::string& id, size_t task) {
    const DrawnAttempt& drawn = kernels_.at(id).drawn;
    const Attempt& recorded = tree_.attempts()[static_cast<size_t>(drawn.attempt)];
    search::CandidateView& candidate = FindCandidate(id);
    candidate.state = search::CandidateState::kDone;
    candidate.outcome = recorded.outcome;
    candidate.reason = recorded.reason;
    candidate.log_ratio = drawn.log_ratio;
    candidate.spread = recorded.spread;
    candidate.median_ms = recorded.median_ms;
    snapshot_.usage.gpu_seconds += recorded.gpu_seconds;
    Close(task);
    if (!search::IsCorrect(candidate) || (run_.found && candidate.log_ratio <= best_)) return;
    run_.found = true;
    best_ = candidate.log_ratio;
    run_.progress.push_back(Now(true));
  }

  void Apply(const search::Propose& propose) {
    const size_t task = Open({search::TaskKind::kPropose, propose.parent_id, propose.parent_id, propose.round,
                              propose.count, search::TaskState::kOpen});
    Call("propose", [this, propose, task] {
      for (int i = 0; i < propose.count; ++i) AddIdea(propose);
      Close(task);
    });
  }
  void Apply(const search::Implement& implement) {
    const int count = static_cast<int>(implement.indexes.size());
    const size_t task =
        Open({search::TaskKind::kImplement, implement.idea_id, "", implement.round, count, search::TaskState::kOpen});
    FindIdea(implement.idea_id).requested += count;
    auto missing = std::make_shared<int>(count);
    for (const int index : implement.indexes) {
      Call("implement", [this, implement, index, task, missing] {
        search::IdeaView& idea = FindIdea(implement.idea_id);
        search::CandidateView candidate;
        candidate.idea_id = idea.id;
        candidate.parent_id = idea.parent_id;
        candidate.round = idea.round;
        candidate.index = index;
        ++idea.delivered;
        AddCandidate(std::move(candidate), draws_.Implementation(ideas_.at(idea.id).drawn));
        if (--*missing == 0) Close(task);
      });
    }
  }
  void Apply(const search::Repair& repair) {
    const int round = FindCandidate(repair.candidate_id).round;
    const size_t task = Open({search::TaskKind::kRepair, repair.candidate_id, "", round, 1, search::TaskState::kOpen});
    Call("repair", [this, repair, task] {
      search::CandidateView candidate = FindCandidate(repair.candidate_id);
      candidate.repair_of = repair.candidate_id;
      candidate.repair_attempt = repair.attempt;
      candidate.outcome = v1::OUTCOME_UNSPECIFIED;
      candidate.reason.clear();
      AddCandidate(std::move(candidate), draws_.Repair(kernels_.at(repair.candidate_id).drawn));
      Close(task);
    });
  }
  void Apply(const search::Evaluate& evaluate) {
    search::CandidateView& candidate = FindCandidate(evaluate.candidate_id);
    const bool confirm = evaluate.stage == "confirm";
    const size_t task = Open({confirm ? search::TaskKind::kConfirm : search::TaskKind::kEvaluate, candidate.id, "",
                              candidate.round, 1, search::TaskState::kOpen});
    const Attempt& recorded = tree_.attempts()[static_cast<size_t>(kernels_.at(candidate.id).drawn.attempt)];
    const double done = gpus_.Run(now_, recorded.seconds);
    if (!confirm) {
      candidate.state = search::CandidateState::kEvaluating;
      At(done, [this, id = candidate.id, task] { Measured(id, task); });
      return;
    }
    At(done, [this, gpu_seconds = recorded.gpu_seconds, task] {
      snapshot_.usage.gpu_seconds += gpu_seconds;
      Close(task);
    });
  }
  void Apply(const search::CloseRound& close) {
    snapshot_.round = close.round + 1;
    snapshot_.round_started_us = Micros();
  }
  void Apply(const search::Finish& finish) { run_.finish_reason = finish.reason; }
  void Apply(const search::Action& action) {
    std::visit([this](const auto& one) { Apply(one); }, action);
  }

  const RecordedTree& tree_;
  Draws draws_;
  Servers gpus_;
  Servers models_;
  const uint64_t seed_;
  search::Snapshot snapshot_;
  ReplayedRun run_;
  double now_ = 0;
  double best_ = 0;
  uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<std::string, Idea> ideas_;
  std::map<std::string, Kernel> kernels_;
};

}  // namespace

absl::StatusOr<ReplayedRun> ReplaySearch(const RecordedTree& tree, const v1::SearchSettings& settings,
                                         const Machines& machines, uint64_t seed) {
  WARPSMITH_ASSIGN_OR_RETURN(const search::SearchValues values, search::ResolveSettings(settings));
  WARPSMITH_ASSIGN_OR_RETURN(const std::unique_ptr<search::Strategy> strategy, search::MakeStrategy(values.strategy));
  return Run(tree, values, machines, seed).ToEnd(*strategy);
}

}  // namespace warpsmith::replay
