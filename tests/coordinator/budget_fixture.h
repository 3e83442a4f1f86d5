// Two searches on a database of their own, and what is done with their budgets.
// Threading: one thread, but where a test says otherwise.
#ifndef WARPSMITH_TESTS_COORDINATOR_BUDGET_FIXTURE_H_
#define WARPSMITH_TESTS_COORDINATOR_BUDGET_FIXTURE_H_

#include <string>
#include <vector>

#include "coordinator/store/budgets.h"
#include "tests/coordinator/database_fixture.h"

namespace warpsmith::store {

struct BudgetFixture : testing::DatabaseFixture {
  BudgetFixture() {
    Query(
        "INSERT INTO blob (sha256, size, data) VALUES (repeat('0', 64), 0, ''); INSERT INTO problem (id, name, "
        "source_sha256, intake_settings) VALUES ('p', 'p', repeat('0', 64), '')");
    AddSearch("s1");
    AddSearch("s2");
  }
  void AddSearch(const std::string& id) {
    Query("INSERT INTO search (id, name, problem_id, state, settings, strategy, seed) VALUES ('" + id +
          "', 'n', 'p', 'running', '', 'branching', 1)");
  }

  Reservation Take(const ReservationRequest& request) {
    return Run<Reservation>([&](Transaction& transaction) { return Reserve(transaction, request); });
  }
  void Close(int64_t id, bool abandoned) {
    Run<bool>([&](Transaction& transaction) -> absl::StatusOr<bool> {
      WARPSMITH_RETURN_IF_ERROR(CloseReservation(transaction, id, abandoned));
      return true;
    });
  }
  void Record(int64_t reservation, const std::string& key, double usd, int64_t tokens, bool kept = false,
              int position = 0, const std::string& search = "s1") {
    Run<bool>([&](Transaction& transaction) -> absl::StatusOr<bool> {
      WARPSMITH_RETURN_IF_ERROR(
          transaction
              .Execute("llm_call_insert", {key,       position,    search, 1, "repair", 1,     "p", "m", "v",    "",
                                           tokens,    0,           0,      0, usd,      0.0,   0.0, 1,   "stop", "",
                                           Bytes{""}, reservation, 0,      0, "",       false, "",  "",  "",     kept})
              .status());
      return true;
    });
  }
  Budget Of(const std::string& scope) {
    const auto budgets = Run<std::vector<Budget>>(
        [&](Transaction& transaction) { return GetBudgets(transaction, "b", "2026-11-30", "s1"); });
    for (const Budget& budget : budgets) {
      if (budget.scope == scope) return budget;
    }
    return {};
  }
};

inline ReservationRequest Asking(double usd, int64_t tokens = 0, int calls = 1) {
  ReservationRequest request;
  request.task_id = 1;
  request.epoch = 1;
  request.idempotency_key = "k";
  request.search_id = "s1";
  request.day = "2026-11-30";
  request.kind = "implement";
  request.calls = calls;
  request.usd_a_call = usd;
  request.tokens_a_call = tokens;
  return request;
}

}  // namespace warpsmith::store

#endif  // WARPSMITH_TESTS_COORDINATOR_BUDGET_FIXTURE_H_
