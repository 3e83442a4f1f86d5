#include "tests/coordinator/search/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coordinator/search/decision.h"
#include "coordinator/search/snapshot_index.h"

namespace warpsmith::search {
namespace {

const v1::Outcome kFailures[] = {v1::OUTCOME_COMPILE_ERROR,  v1::OUTCOME_WRONG_OUTPUT, v1::OUTCOME_LAUNCH_ERROR,
                                 v1::OUTCOME_ILLEGAL_ACCESS, v1::OUTCOME_NEEDS_GPU,    v1::OUTCOME_SUSPICIOUS,
                                 v1::OUTCOME_INFRA_ERROR};

template <typename View>
View* Find(std::vector<View>& views, const std::string& id) {
  auto it = std::find_if(views.begin(), views.end(), [&](const View& view) { return view.id == id; });
  return it == views.end() ? nullptr : &*it;
}

}  // namespace

Simulation::Simulation(const Strategy& strategy, const SearchValues& values, const World& world, uint64_t seed)
    : strategy_(strategy), world_(world), seed_(seed), random_(seed) {
  snapshot_.search_id = fmt::format("simulation-{}", seed);
  snapshot_.values = values;
  snapshot_.round_started_us = now_us_;
  if (Draw() < 0.3) snapshot_.bank_seeds = {{"bank-1"}, {"bank-2"}};
}

std::string Simulation::NewId(const char* kind) {
  // Ids that do not sort by creation, as a database's random ones.
  return fmt::format("{}-{:08x}-{}", kind, static_cast<uint32_t>(random_()), next_id_++);
}

void Simulation::Check(bool good, const std::string& what) {
  if (!good) problems_.push_back(fmt::format("decision {}: {}", decisions_, what));
}

void Simulation::AddTask(TaskView task, std::vector<int> indexes, int island) {
  snapshot_.tasks.push_back(std::move(task));
  const double deadline = snapshot_.values.round_deadline_seconds;
  const double seconds = Draw() < world_.late_share ? deadline * (1 + 2 * Draw()) : deadline * 0.1 * Draw();
  pending_.push_back(
      {snapshot_.tasks.size() - 1, now_us_ + static_cast<int64_t>(seconds * 1e6), std::move(indexes), island});
}

// Nothing of an island but its members is its parent, unless it comes from another one, of which it is the best.
bool Simulation::IsBestOfAnotherIsland(const CandidateView& parent, int island) const {
  for (const auto& [other, members] : members_) {
    if (other == island || members.count(parent.id) == 0) continue;
    bool best = true;
    for (const CandidateView& c : snapshot_.candidates) {
      best &= members.count(c.id) == 0 || !IsCorrect(c) || !ClearlyFaster(c, parent);
    }
    if (best) return true;
  }
  return false;
}

void Simulation::CheckParent(const Propose& propose) {
  const CandidateView* parent = Find(snapshot_.candidates, propose.parent_id);
  const std::string strategy = strategy_.name();
  Check((propose.island > 0) == (strategy == "evolve"), "an island where there are none, or none where there are");
  if (strategy == "best_of_n") Check(propose.parent_id.empty() && propose.count == 1, "an attempt that is not one");
  if (strategy == "branching" && parent != nullptr) {
    const std::string lineage = SnapshotIndex(snapshot_).Lineage(*parent);
    Check(++lineages_[propose.round][lineage] <= 2, "more than two parents of a lineage");
  }
  if (strategy == "evolve" && !propose.parent_id.empty()) {
    const IdeaView* idea = parent == nullptr ? nullptr : Find(snapshot_.ideas, parent->idea_id);
    Check(idea == nullptr || idea->operator_injected || members_[propose.island].count(parent->id) != 0 ||
              IsBestOfAnotherIsland(*parent, propose.island),
          "a parent that is not the island's");
  }
}

void Simulation::Apply(const Action& action) {
  const SearchValues& values = snapshot_.values;
  if (const auto* propose = std::get_if<Propose>(&action)) {
    Check(propose->round == snapshot_.round && propose->round <= values.rounds, "an idea call outside of its round");
    Check(std::count(snapshot_.exhausted_parents.begin(), snapshot_.exhausted_parents.end(), propose->parent_id) == 0,
          "ideas for an exhausted parent");
    if (const auto* parent = Find(snapshot_.candidates, propose->parent_id)) {
      Check(parent->state == CandidateState::kDone && parent->outcome == v1::OUTCOME_OK, "a wrong parent");
    }
    CheckParent(*propose);
    ideas_asked_[propose->round] += propose->count;
    AddTask(
        {TaskKind::kPropose, propose->parent_id, propose->parent_id, propose->round, propose->count, TaskState::kOpen},
        {}, propose->island);
  } else if (const auto* implement = std::get_if<Implement>(&action)) {
    IdeaView* idea = Find(snapshot_.ideas, implement->idea_id);
    Check(idea != nullptr, "an unknown idea");
    if (idea == nullptr) return;
    Check(implement->count <= values.implementations, "too many implementations");
    Check(!implement->indexes.empty() && implement->indexes.front() == idea->requested, "an index twice");
    idea->requested += static_cast<int>(implement->indexes.size());
    Check(idea->requested <= implement->count, "more indexes than implementations");
    AddTask({TaskKind::kImplement, idea->id, "", idea->round, static_cast<int>(implement->indexes.size()),
             TaskState::kOpen},
            implement->indexes);
  } else if (const auto* repair = std::get_if<Repair>(&action)) {
    const CandidateView* failed = Find(snapshot_.candidates, repair->candidate_id);
    Check(failed != nullptr && failed->state == CandidateState::kDone, "a repair of what has not failed");
    if (failed == nullptr) return;
    Check(failed->outcome != v1::OUTCOME_INFRA_ERROR && failed->outcome != v1::OUTCOME_NEEDS_GPU &&
              failed->outcome != v1::OUTCOME_OK && failed->outcome != v1::OUTCOME_SUSPICIOUS,
          "a repair of what is not the model's fault");
    Check(repair->attempt == failed->repair_attempt + 1 && repair->attempt <= values.repairs, "too many repairs");
    AddTask({TaskKind::kRepair, failed->id, "", failed->round, 1, TaskState::kOpen});
  } else if (const auto* evaluate = std::get_if<Evaluate>(&action)) {
    CandidateView* candidate = Find(snapshot_.candidates, evaluate->candidate_id);
    Check(candidate != nullptr, "an unknown candidate");
    if (candidate == nullptr) return;
    const bool confirm = evaluate->stage == "confirm";
    Check(candidate->state == (confirm ? CandidateState::kDone : CandidateState::kQueued), "a wrong evaluation");
    if (!confirm) candidate->state = CandidateState::kEvaluating;
    AddTask(
        {confirm ? TaskKind::kConfirm : TaskKind::kEvaluate, candidate->id, "", candidate->round, 1, TaskState::kOpen});
  } else if (const auto* close = std::get_if<CloseRound>(&action)) {
    Check(close->round == snapshot_.round && close->round <= values.rounds, "a round closed twice");
    ++snapshot_.round;
    snapshot_.round_started_us = now_us_;
  } else if (const auto* finish = std::get_if<Finish>(&action)) {
    Check(finish_reason_.empty(), "finished twice");
    finish_reason_ = finish->reason;
  }
}

void Simulation::CompleteIdea(const TaskView& task, const std::vector<int>& indexes) {
  IdeaView* idea = Find(snapshot_.ideas, task.subject_id);
  for (int index : indexes) {
    if (Draw() < world_.lost_share) continue;
    ++idea->delivered;
    CandidateView candidate;
    candidate.id = NewId("candidate");
    candidate.idea_id = idea->id;
    candidate.parent_id = idea->parent_id;
    candidate.round = idea->round;
    candidate.index = index;
    if (Draw() < world_.rejected_share) candidate.state = CandidateState::kRejected;
    if (idea->island > 0) members_[idea->island].insert(candidate.id);
    snapshot_.candidates.push_back(candidate);
  }
}

void Simulation::CompleteEvaluation(const TaskView& task) {
  CandidateView* candidate = Find(snapshot_.candidates, task.subject_id);
  candidate->state = CandidateState::kDone;
  snapshot_.usage.gpu_seconds += world_.gpu_seconds_an_evaluation;
  const bool correct = Draw() < (task.kind == TaskKind::kConfirm ? 0.9 : world_.correct_share);
  candidate->outcome = correct ? v1::OUTCOME_OK : kFailures[random_() % std::size(kFailures)];
  const CandidateView* parent = Find(snapshot_.candidates, candidate->parent_id);
  const double before = parent == nullptr ? -0.5 : parent->log_ratio;
  candidate->log_ratio = correct ? before + std::normal_distribution<double>(0.05, 0.3)(random_) : 0;
  candidate->log_ratio = std::min(candidate->log_ratio, world_.roofline_log_ratio);
  candidate->roofline_share = correct ? std::exp(candidate->log_ratio - world_.roofline_log_ratio) : 0;
  candidate->median_ms = correct ? std::exp(-candidate->log_ratio) : 0;
  candidate->spread = Draw() * 0.1;
}

void Simulation::Complete(const Pending& pending) {
  TaskView& stored = snapshot_.tasks[pending.task];
  const TaskView task = stored;
  const bool lost = Draw() < world_.lost_share;
  stored.state = lost ? TaskState::kFailed : TaskState::kDone;
  if (task.kind == TaskKind::kPropose || task.kind == TaskKind::kImplement || task.kind == TaskKind::kRepair) {
    const int calls = task.kind == TaskKind::kImplement ? task.count : 1;
    snapshot_.usage.model_calls += calls;
    snapshot_.usage.usd += calls * world_.usd_a_call;
    snapshot_.usage.tokens += calls * world_.tokens_a_call;
  }
  if (lost) return;
  switch (task.kind) {
    case TaskKind::kPropose: {
      const bool dry = Draw() < world_.dry_share;
      const int count = dry ? static_cast<int>(random_() % static_cast<uint64_t>(task.count + 1)) : task.count;
      if (dry) snapshot_.exhausted_parents.push_back(task.subject_id);
      for (int i = 0; i < count; ++i) {
        IdeaView idea;
        idea.id = NewId("idea");
        idea.parent_id = task.parent_id;
        idea.round = task.round;
        idea.island = pending.island;
        if (idea.island > 0 && !idea.parent_id.empty()) members_[idea.island].insert(idea.parent_id);
        snapshot_.ideas.push_back(idea);
      }
      break;
    }
    case TaskKind::kImplement:
      CompleteIdea(task, pending.indexes);
      break;
    case TaskKind::kRepair: {
      CandidateView repaired = *Find(snapshot_.candidates, task.subject_id);
      repaired.repair_of = repaired.id;
      repaired.id = NewId("candidate");
      ++repaired.repair_attempt;
      for (auto& [island, members] : members_) {
        if (members.count(task.subject_id) != 0) members.insert(repaired.id);
      }
      repaired.outcome = v1::OUTCOME_UNSPECIFIED;
      repaired.state = Draw() < world_.rejected_share ? CandidateState::kRejected : CandidateState::kQueued;
      snapshot_.candidates.push_back(repaired);
      break;
    }
    case TaskKind::kEvaluate:
    case TaskKind::kConfirm:
      CompleteEvaluation(task);
      break;
  }
}

void Simulation::Inject() {
  if (Draw() < 0.5) {
    IdeaView idea;
    idea.id = NewId("idea");
    idea.round = std::min(snapshot_.round, snapshot_.values.rounds);
    idea.operator_injected = true;
    snapshot_.ideas.push_back(idea);
  } else {
    CandidateView kernel;
    kernel.id = NewId("candidate");
    kernel.round = std::min(snapshot_.round, snapshot_.values.rounds);
    snapshot_.candidates.push_back(kernel);
  }
}

bool Simulation::Step() {
  Capacity capacity;
  if (Draw() < world_.limited_share) capacity = {static_cast<int>(random_() % 4), static_cast<int>(random_() % 4)};
  const std::vector<Action> actions =
      strategy_.Next(snapshot_, static_cast<uint64_t>(decisions_), seed_, now_us_, capacity);

  Snapshot shuffled = snapshot_;
  std::shuffle(shuffled.candidates.begin(), shuffled.candidates.end(), random_);
  std::shuffle(shuffled.ideas.begin(), shuffled.ideas.end(), random_);
  std::shuffle(shuffled.tasks.begin(), shuffled.tasks.end(), random_);
  std::shuffle(shuffled.exhausted_parents.begin(), shuffled.exhausted_parents.end(), random_);
  Check(strategy_.Next(shuffled, static_cast<uint64_t>(decisions_) + 7, seed_, now_us_, capacity) == actions,
        "the order of vectors changes the actions");
  Check(SnapshotHash(shuffled) == SnapshotHash(snapshot_), "the order of vectors changes the hash");
  auto parsed = ActionsFromJson(ActionsToJson(actions));
  Check(parsed.ok() && *parsed == actions, "actions do not survive JSON");

  const SearchValues& values = snapshot_.values;
  int calls = 0;
  int evaluations = 0;
  for (const Action& action : actions) {
    if (const auto* implement = std::get_if<Implement>(&action)) calls += static_cast<int>(implement->indexes.size());
    if (std::holds_alternative<Propose>(action) || std::holds_alternative<Repair>(action)) ++calls;
    if (std::holds_alternative<Evaluate>(action)) ++evaluations;
  }
  Check(calls <= capacity.model_calls && evaluations <= capacity.evaluations, "more tasks than there is room for");
  if (calls > 0) {
    usd_when_calling_ = std::max(usd_when_calling_, snapshot_.usage.usd);
    Check(values.max_usd == 0 || snapshot_.usage.usd < values.max_usd, "a call beyond max_usd");
    Check(values.max_tokens == 0 || snapshot_.usage.tokens < values.max_tokens, "a call beyond max_tokens");
  }
  Check(evaluations == 0 || values.max_gpu_hours == 0 || snapshot_.usage.gpu_seconds < values.max_gpu_hours * 3600,
        "an evaluation beyond max_gpu_hours");

  const int round_before = snapshot_.round;
  for (const Action& action : actions) {
    if (!std::holds_alternative<CloseRound>(action) && !std::holds_alternative<Finish>(action)) {
      // CloseRound and Finish name a round or end the search; one line of work and independent attempts ask for an idea
      // on the same parent many times.
      const bool again = std::holds_alternative<Propose>(action) &&
                         (strategy_.name() == "sequential" || strategy_.name() == "best_of_n");
      const std::string text = ActionsToJson({action});
      Check(again || issued_.insert(text).second, "an action twice: " + text);
    }
    Apply(action);
  }
  // What was carried out is not asked for again.
  const std::vector<Action> repeated =
      strategy_.Next(snapshot_, static_cast<uint64_t>(decisions_), seed_, now_us_, capacity);
  if (snapshot_.round == round_before && finish_reason_.empty()) {
    for (const Action& action : actions) {
      Check(std::find(repeated.begin(), repeated.end(), action) == repeated.end(),
            "an action again after it was taken");
    }
  }
  return !actions.empty();
}

bool Simulation::Run() {
  constexpr int kMaxDecisions = 200000;
  while (finish_reason_.empty() && decisions_ < kMaxDecisions) {
    ++decisions_;
    const bool acted = Step();
    if (!finish_reason_.empty()) break;
    if (Draw() < world_.inject_share && snapshot_.round <= snapshot_.values.rounds) Inject();
    if (acted) continue;
    auto next = std::min_element(pending_.begin(), pending_.end(),
                                 [](const Pending& a, const Pending& b) { return a.due_us < b.due_us; });
    const int64_t tick = now_us_ + static_cast<int64_t>(snapshot_.values.round_deadline_seconds * 1e6 / 20);
    if (next == pending_.end() || next->due_us > tick) {
      now_us_ = tick;
      continue;
    }
    now_us_ = std::max(now_us_, next->due_us);
    const Pending pending = *next;
    pending_.erase(next);
    Complete(pending);
  }
  const SearchValues& values = snapshot_.values;
  const bool by_parents = strategy_.name() == "branching" || strategy_.name() == "evolve";
  const int64_t limit = by_parents ? int64_t{values.parents} * values.ideas : CallsARound(values);
  for (const auto& [round, asked] : ideas_asked_) Check(asked <= limit, "too many ideas in a round");
  // Implementations are at most as many as the calls for ideas leave of a round's.
  std::map<int, int64_t> calls;
  for (const TaskView& task : snapshot_.tasks) {
    if (task.kind == TaskKind::kPropose) ++calls[task.round];
    if (task.kind == TaskKind::kImplement) calls[task.round] += task.count;
  }
  const auto injected = static_cast<int64_t>(std::count_if(
      snapshot_.ideas.begin(), snapshot_.ideas.end(), [](const IdeaView& idea) { return idea.operator_injected; }));
  for (const auto& [round, made] : calls) {
    Check(made <= std::max<int64_t>(2, CallsARound(values)) + injected * values.implementations,
          "more calls in a round than every strategy has");
  }
  return !finish_reason_.empty();
}

}  // namespace warpsmith::search
