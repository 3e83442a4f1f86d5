#include "coordinator/engine/arm_history.h"

#include <cmath>

namespace warpsmith::engine {
namespace {

double LogOf(double ratio) { return std::isfinite(ratio) && ratio > 0 ? std::log(ratio) : 0; }

}  // namespace

absl::StatusOr<search::ModelBandit> RebuildBandit(store::Transaction& transaction, const std::string& search_id,
                                                  bool for_ideas) {
  search::ModelBandit bandit;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet pulls, transaction.Execute("arm_pulls", {search_id, for_ideas}));
  for (const store::Row row : pulls) {
    const std::string arm = row.Text("arm");
    bandit.Submit(arm, row.Int("pulls"));
    // What is free says nothing of what a call to a model should cost.
    if (row.Double("usd") > 0) bandit.AddCost(arm, row.Double("usd"), row.Int("calls"));
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet results,
                             transaction.Execute(for_ideas ? "arm_idea_results" : "arm_code_results", {search_id}));
  for (const store::Row row : results) {
    const bool success = for_ideas ? row.Double("ratio") > 0 : row.Bool("success") && row.Double("ratio") > 0;
    if (success) {
      bandit.Succeed(row.Text("arm"), LogOf(row.Double("ratio")), LogOf(row.Double("parent_ratio")));
    } else {
      bandit.Fail(row.Text("arm"));
    }
  }
  for (const store::Row row : pulls) {
    if (!row.Bool("closed")) continue;
    for (int64_t lost = row.Int("pulls") - row.Int("delivered"); lost > 0; --lost) bandit.Fail(row.Text("arm"));
  }
  return bandit;
}

}  // namespace warpsmith::engine
