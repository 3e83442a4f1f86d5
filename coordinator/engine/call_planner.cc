#include "coordinator/engine/call_planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/hash.h"
#include "coordinator/engine/arm_history.h"
#include "coordinator/store/budgets.h"

namespace warpsmith::engine {
namespace {

constexpr int64_t kUsualInput = 32'000;  // tokens that a model's usd_a_call counts with
constexpr double kSmallestUsd = 1e-9;    // a limit that lets only free calls through; 0 would be none
constexpr double kRounding = 1e-8;       // dollars between our sums and the budget's nanodollars
constexpr double kSettlingSeconds = 0.5;
constexpr double kDaySeconds = 30;  // so that a raised limit or the next day is soon noticed

struct Cost {
  double usd = 0;
  int64_t tokens = 0;
};

Cost CostOf(const search::ModelArm& arm, int64_t input_tokens) {
  if (arm.catalog) return {};
  const double more = static_cast<double>(std::max<int64_t>(0, input_tokens - kUsualInput)) * arm.input_usd;
  return {arm.usd_a_call + more, arm.output_tokens_a_call + input_tokens};
}

// What budgets leave beside what is used for good; what is reserved may come back.
struct Left {
  std::optional<double> usd;
  std::optional<int64_t> tokens;

  // A quarter of a call is enough: see reserve_budget, which this must not promise more than.
  bool HoldsUsd(const Cost& cost) const { return !usd || cost.usd <= 0 || *usd >= cost.usd / 4 + kRounding; }
  bool HoldsTokens(const Cost& cost) const { return !tokens || cost.tokens <= 0 || *tokens >= (cost.tokens + 3) / 4; }
  bool Holds(const Cost& cost) const { return HoldsUsd(cost) && HoldsTokens(cost); }
  void Limit(double max_usd, double used_usd, int64_t max_tokens, int64_t used_tokens) {
    if (max_usd > 0) usd = std::min(usd.value_or(max_usd), max_usd - used_usd);
    if (max_tokens > 0) tokens = std::min(tokens.value_or(max_tokens), max_tokens - used_tokens);
  }
};

Refusal DayUsedUp(double max_day) {
  return {
      false, kDaySeconds,
      fmt::format("today's budget for models of ${:.2f} is used up; they are asked again after midnight UTC, or with "
                  "a larger --max-usd-per-day",
                  max_day)};
}

Refusal InFlight(const std::string& scope) {
  return {false, kSettlingSeconds,
          fmt::format("calls in flight hold the rest of the {}'s budget", scope == "day" ? "UTC day" : scope)};
}

Refusal Spent(const store::SearchRecord& search, const Cost& cost, const Left& left) {
  std::string what;
  if (!left.HoldsUsd(cost)) {
    what = fmt::format("${:.4f} are left and the next call may cost ${:.4f}", std::max(0.0, *left.usd), cost.usd);
  } else {
    what = fmt::format("{} tokens are left and the next call may take {}",
                       std::max<int64_t>(0, left.tokens.value_or(0)), cost.tokens);
  }
  return {true, 0, fmt::format("the budget of {} is spent: {}", search.name, what)};
}

}  // namespace

void CallPlan::Fill(v1::CallContext* call) const {
  call->set_max_usd(max_usd);
  call->set_max_total_tokens(max_total_tokens);
  if (!arm) return;
  call->clear_models();
  call->add_models(arm->model);
  call->set_effort(arm->effort);
  call->set_prompt_variant(arm->variant);
}

absl::StatusOr<CallPlan> CallPlanner::Plan(store::Transaction& transaction, const store::SearchRecord& search,
                                           const queue::Task& task, const v1::ListModelsReply& models,
                                           const CallNeed& need) const {
  const std::string day = store::UtcDay(clock_.WallMicros());
  const store::BudgetLimits limits{search.settings.max_usd(), search.settings.max_tokens()};
  const bool propose = task.kind == queue::TaskKind::kPropose;
  WARPSMITH_RETURN_IF_ERROR(store::ReleaseUnused(transaction, need.idempotency_key, task.id, task.epoch));

  std::vector<search::ModelArm> arms = search::ArmsOf(models, search.settings);
  const bool catalog = std::any_of(arms.begin(), arms.end(), [](const auto& arm) { return arm.catalog; });
  const bool free_of_charge = need.of_catalog && catalog;
  // Only ideas can be the catalog's by choice; code is, where its idea is.
  std::erase_if(arms, [&](const auto& arm) { return arm.catalog && (!propose || need.no_catalog); });
  const bool only_catalog = std::all_of(arms.begin(), arms.end(), [](const auto& arm) { return arm.catalog; });

  // What is left, in the search and its batch, and today.
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::Budget> budgets,
                             store::GetBudgets(transaction, search.batch_id, day, search.id));
  Left own, all;
  double search_used = 0, day_used = 0;
  int64_t search_tokens = 0;
  for (const store::Budget& budget : budgets) {
    if (budget.scope == "batch") {
      own.Limit(budget.max_usd, budget.used_usd, budget.max_tokens, budget.used_tokens);
    } else if (budget.scope == "day") {
      day_used = budget.used_usd;
    } else {
      search_used = budget.used_usd;
      search_tokens = budget.used_tokens;
    }
  }
  own.Limit(limits.max_usd, search_used, limits.max_tokens, search_tokens);
  all = own;
  all.Limit(settings_.max_usd_per_day, day_used, 0, 0);

  CallPlan plan;
  Cost cost;
  if (!free_of_charge && !only_catalog) {
    // Affordable arms, and why there are none.
    const auto cheapest = *std::min_element(arms.begin(), arms.end(), [&](const auto& a, const auto& b) {
      const Cost first = CostOf(a, need.input_tokens), second = CostOf(b, need.input_tokens);
      return std::pair(first.usd, first.tokens) < std::pair(second.usd, second.tokens);
    });
    const auto outside = [&](const Left& left) {
      return std::none_of(arms.begin(), arms.end(),
                          [&](const auto& arm) { return left.Holds(CostOf(arm, need.input_tokens)); });
    };
    if (outside(own)) {
      WARPSMITH_ASSIGN_OR_RETURN(const bool first, store::MarkSpent(transaction, search.id));
      plan.refusal = Spent(search, CostOf(cheapest, need.input_tokens), own);
      if (first) WARPSMITH_RETURN_IF_ERROR(store::AddEvent(transaction, search.id, plan.refusal->why));
      return plan;
    }
    if (outside(all)) {
      plan.refusal = DayUsedUp(settings_.max_usd_per_day);
      if (task.last_error != plan.refusal->why) {
        WARPSMITH_RETURN_IF_ERROR(store::AddEvent(transaction, search.id, "waiting: " + plan.refusal->why));
      }
      return plan;
    }
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet before,
                               transaction.Execute("reservation_arm", {need.idempotency_key}));
    if (!before.empty()) {
      const auto same =
          std::find_if(arms.begin(), arms.end(), [&](const auto& arm) { return arm.Name() == before[0].Text("arm"); });
      if (same != arms.end() && all.Holds(CostOf(*same, need.input_tokens))) plan.arm = *same;
    }
    if (!plan.arm) {
      std::erase_if(arms, [&](const auto& arm) { return !all.Holds(CostOf(arm, need.input_tokens)); });
      std::vector<std::string> names;
      names.reserve(arms.size());
      for (const search::ModelArm& arm : arms) names.push_back(arm.Name());
      const uint64_t seed = Sha256Prefix(fmt::format("{}/{}/arm", search.seed, need.idempotency_key));
      if (search.settings.model_choice() == "fixed_split") {
        plan.arm = arms[search::DrawName(names, search::SplitWeights(arms, search.settings.model_split()), seed)];
      } else {
        WARPSMITH_ASSIGN_OR_RETURN(const search::ModelBandit bandit, RebuildBandit(transaction, search.id, propose));
        plan.arm = arms[bandit.Choose(names, seed)];
      }
    }
    cost = CostOf(*plan.arm, need.input_tokens);
    plan.others = true;
  }

  store::ReservationRequest request;
  request.task_id = task.id;
  request.epoch = task.epoch;
  request.idempotency_key = need.idempotency_key;
  request.search_id = search.id;
  request.batch_id = search.batch_id;
  request.day = day;
  request.kind = queue::TaskKindName(task.kind);
  request.arm = plan.arm ? plan.arm->Name() : "";
  request.calls = need.calls;
  request.pulls = need.pulls;
  request.usd_a_call = cost.usd;
  request.tokens_a_call = cost.tokens;
  request.search = limits;
  request.max_usd_per_day = settings_.max_usd_per_day;
  WARPSMITH_ASSIGN_OR_RETURN(const store::Reservation reservation, store::Reserve(transaction, request));
  if (reservation.id == 0) {
    // What was left a moment ago went to another call: the next try finds out whether anything can still be had.
    plan.refusal = InFlight(reservation.refused_by);
    return plan;
  }
  plan.reservation = reservation.id;
  plan.calls = reservation.calls;
  // Each call's cost is rounded up to nanodollars: their sum must not come out above what was reserved.
  if (reservation.usd_limited) plan.max_usd = std::max(kSmallestUsd, reservation.usd - kRounding);
  if (reservation.tokens_limited && cost.tokens > 0) plan.max_total_tokens = std::max<int64_t>(1, reservation.tokens);
  return plan;
}

}  // namespace warpsmith::engine
