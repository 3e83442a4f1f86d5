#include "coordinator/search/budget.h"

#include <algorithm>
#include <cmath>

namespace warpsmith::search {
namespace {

constexpr int kUnlimited = 1 << 30;

// How many more at a mean cost of used/done fit below `limit` beside those that are open.
int Affordable(double limit, double used, int done, int open) {
  if (limit <= 0) return kUnlimited;
  if (used >= limit) return 0;
  const double mean = done > 0 ? used / done : 0;
  if (mean <= 0) return kUnlimited;
  return static_cast<int>(std::clamp(std::floor((limit - used) / mean) - open, 0.0, double{kUnlimited}));
}

}  // namespace

Budget::Budget(const SnapshotIndex& index, const Capacity& capacity) : capacity_(capacity) {
  int open_calls = 0;
  int open_evaluations = 0;
  for (const TaskView* task : index.tasks()) {
    if (task->state != TaskState::kOpen) continue;
    switch (task->kind) {
      case TaskKind::kPropose:
      case TaskKind::kRepair:
        ++open_calls;
        break;
      case TaskKind::kImplement:
        open_calls += task->count;
        break;
      case TaskKind::kEvaluate:
      case TaskKind::kConfirm:
        ++open_evaluations;
        break;
    }
  }
  int evaluated = 0;
  for (const CandidateView* c : index.candidates()) evaluated += c->state == CandidateState::kDone ? 1 : 0;
  const SearchValues& values = index.values();
  const UsageView& usage = index.snapshot().usage;
  calls_affordable_ = std::min(Affordable(values.max_usd, usage.usd, usage.model_calls, open_calls),
                               Affordable(static_cast<double>(values.max_tokens), static_cast<double>(usage.tokens),
                                          usage.model_calls, open_calls));
  // A reservation was refused: what the means still promise cannot be had.
  if (usage.calls_refused) calls_affordable_ = 0;
  evaluations_affordable_ = Affordable(values.max_gpu_hours * 3600, usage.gpu_seconds, evaluated, open_evaluations);
}

int Budget::Take(int wanted, int* affordable, int* capacity) {
  if (wanted > *affordable) blocked_ = true;
  const int granted = std::max(0, std::min({wanted, *affordable, *capacity}));
  *affordable -= granted;
  *capacity -= granted;
  return granted;
}

int Budget::TakeModelCalls(int wanted) { return Take(wanted, &calls_affordable_, &capacity_.model_calls); }

int Budget::TakeEvaluations(int wanted) { return Take(wanted, &evaluations_affordable_, &capacity_.evaluations); }

}  // namespace warpsmith::search
