#include "coordinator/search/batch_allocation.h"

#include <algorithm>
#include <variant>

namespace warpsmith::search {
namespace {

// PyTorch itself is the best that is known before there is a kernel.
double BestAfter(const ProblemView& problem, size_t rounds) {
  const double best = rounds == 0 ? 0 : problem.best[rounds - 1];
  return best > 0 ? best : 1;
}

bool HasKernel(const ProblemView& problem) { return !problem.best.empty() && problem.best.back() > 0; }

bool AtRoofline(const ProblemView& problem, const AllocationRules& rules) {
  return problem.stop_at_share > 0 && problem.floor_share > 0 && problem.roofline_share >= problem.stop_at_share &&
         problem.floor_share * rules.factor_of_minimum >= 1;
}

bool GainsNoMore(const ProblemView& problem, const AllocationRules& rules) {
  const int rounds =
      problem.stop_after_rounds_without_gain > 0 ? problem.stop_after_rounds_without_gain : rules.rounds_without_gain;
  const size_t closed = problem.best.size();
  if (rounds <= 0 || closed <= static_cast<size_t>(rounds)) return false;
  const double before = problem.best[closed - 1 - static_cast<size_t>(rounds)];
  return before > 0 && before < problem.best.back() * rules.least_gain;
}

std::string StopReason(const ProblemView& problem, const BatchView& batch, const AllocationRules& rules) {
  if (problem.state == ProblemState::kNew) return batch.spent ? "budget" : "";
  if (problem.state != ProblemState::kWaiting) return "";
  if (AtRoofline(problem, rules)) return "roofline";
  if (batch.spent) return "budget";
  if (HasKernel(problem)) return GainsNoMore(problem, rules) ? "no_gain" : "";
  // Where there is no limit, hopeless ones may go on to the last of their rounds: they take nobody's.
  return batch.limited && problem.reserve_rounds >= rules.reserve_rounds ? "no_kernel" : "";
}

class Choice {
 public:
  Choice(const BatchView& batch, const AllocationRules& rules) : rules_(rules) {
    for (const ProblemView& problem : batch.problems) {
      later_rounds_ += std::max(0, problem.rounds_granted - 1);
      reserve_rounds_ += problem.reserve_rounds;
      if (!StopReason(problem, batch, rules).empty()) continue;
      if (problem.state == ProblemState::kNew) new_.push_back(&problem);
      if (problem.state == ProblemState::kWaiting) (HasKernel(problem) ? gaining_ : without_).push_back(&problem);
    }
    // Of equals the first of the batch goes first.
    std::stable_sort(gaining_.begin(), gaining_.end(), [&](const ProblemView* a, const ProblemView* b) {
      return ExpectedGain(*a, rules_) > ExpectedGain(*b, rules_);
    });
    std::stable_sort(without_.begin(), without_.end(),
                     [](const ProblemView* a, const ProblemView* b) { return a->rounds_granted < b->rounds_granted; });
  }

  const ProblemView* Next() {
    if (!new_.empty()) return Take(&new_);
    const bool eligible = !without_.empty() && without_.front()->reserve_rounds < rules_.reserve_rounds;
    const bool due = reserve_rounds_ < rules_.reserve_share * (later_rounds_ + 1);
    if (eligible && due) return TakeWithout();
    if (!gaining_.empty()) {
      ++later_rounds_;
      return Take(&gaining_);
    }
    return without_.empty() ? nullptr : TakeWithout();
  }

 private:
  static const ProblemView* Take(std::vector<const ProblemView*>* from) {
    const ProblemView* taken = from->front();
    from->erase(from->begin());
    return taken;
  }
  const ProblemView* TakeWithout() {
    ++later_rounds_;
    ++reserve_rounds_;
    return Take(&without_);
  }

  const AllocationRules& rules_;
  std::vector<const ProblemView*> new_, gaining_, without_;
  int later_rounds_ = 0;
  int reserve_rounds_ = 0;
};

}  // namespace

double ExpectedGain(const ProblemView& problem, const AllocationRules& rules) {
  const size_t closed = problem.best.size();
  if (closed == 0) return 0;
  const size_t window = std::min(closed, static_cast<size_t>(std::max(1, rules.window)));
  const double last = BestAfter(problem, closed);
  const double slope = std::max(0.0, BestAfter(problem, closed - window) - last) / static_cast<double>(window);
  return (rules.alpha * slope + (1 - rules.alpha) * last / static_cast<double>(closed)) / last;
}

Allocation Allocate(const BatchView& batch, const AllocationRules& rules) {
  Allocation allocation;
  for (const ProblemView& problem : batch.problems) {
    const std::string reason = StopReason(problem, batch, rules);
    if (!reason.empty()) allocation.stop.push_back({problem.id, reason});
  }
  Choice choice(batch, rules);
  for (int place = 0; place < batch.places; ++place) {
    const ProblemView* next = choice.Next();
    if (next == nullptr) break;
    allocation.begin.push_back(next->id);
  }
  return allocation;
}

std::vector<Action> WithinRounds(std::vector<Action> actions, int rounds) {
  std::erase_if(actions, [rounds](const Action& action) {
    const auto* propose = std::get_if<Propose>(&action);
    return propose != nullptr && propose->round > rounds;
  });
  return actions;
}

}  // namespace warpsmith::search
