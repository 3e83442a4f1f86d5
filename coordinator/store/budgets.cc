#include "coordinator/store/budgets.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace warpsmith::store {
namespace {

constexpr double kMostUsd = 9e9;  // what nanodollars in 64 bits hold

// Up for what is spent, down for what may be.
int64_t NanoUp(double usd) { return static_cast<int64_t>(std::ceil(std::clamp(usd, 0.0, kMostUsd) * 1e9)); }
int64_t NanoDown(double usd) {
  return usd > 0 ? std::max<int64_t>(1, static_cast<int64_t>(std::floor(std::min(usd, kMostUsd) * 1e9 + 1e-3))) : 0;
}
double Usd(int64_t nano) { return static_cast<double>(nano) * 1e-9; }

// So that no product of calls and cost overflows.
int64_t Bounded(int64_t value) { return std::clamp<int64_t>(value, 0, int64_t{1} << 50); }

}  // namespace

absl::StatusOr<Reservation> Reserve(Transaction& transaction, const ReservationRequest& request) {
  WARPSMITH_ASSIGN_OR_RETURN(
      const ResultSet rows,
      transaction.Execute(
          "budget_reserve",
          {request.task_id, request.epoch, request.idempotency_key, request.search_id, request.batch_id, request.day,
           request.kind, request.arm, std::max(1, request.calls), std::max(1, request.pulls),
           Bounded(NanoUp(request.usd_a_call)), Bounded(request.tokens_a_call), NanoDown(request.search.max_usd),
           std::max<int64_t>(0, request.search.max_tokens), NanoDown(request.max_usd_per_day)}));
  const Row row = rows[0];
  Reservation reservation;
  reservation.id = row.Int("reservation_id");
  reservation.calls = static_cast<int>(row.Int("calls"));
  reservation.usd = Usd(row.Int("nano_usd"));
  reservation.tokens = row.Int("tokens");
  reservation.usd_limited = row.Bool("limited_usd");
  reservation.tokens_limited = row.Bool("limited_tokens");
  reservation.refused_by = row.Text("refused_by");
  reservation.may_fit_later = row.Bool("may_fit_later");
  return reservation;
}

absl::Status CloseReservation(Transaction& transaction, int64_t id, bool abandoned) {
  if (id == 0) return absl::OkStatus();
  return transaction.Execute("budget_close", {id, abandoned}).status();
}

absl::Status ReleaseUnused(Transaction& transaction, const std::string& idempotency_key, int64_t task_id,
                           int64_t epoch) {
  return transaction.Execute("budget_release_unused", {idempotency_key, task_id, epoch}).status();
}

absl::Status AbandonReservationsOf(Transaction& transaction, int64_t task_id) {
  return transaction.Execute("budget_abandon_of_task", {task_id}).status();
}

absl::Status AbandonAllReservations(Transaction& transaction) {
  return transaction.Execute("budget_abandon_all", {}).status();
}

absl::StatusOr<std::vector<Budget>> GetBudgets(Transaction& transaction, const std::string& batch_id,
                                               const std::string& day, const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const ResultSet rows, transaction.Execute("budget_of", {batch_id, day, search_id}));
  std::vector<Budget> budgets;
  for (const Row row : rows) {
    budgets.push_back({row.Text("scope"), Usd(row.Int("max_nano_usd")), row.Int("max_tokens"),
                       Usd(row.Int("used_nano_usd")), row.Int("used_tokens"), Usd(row.Int("reserved_nano_usd")),
                       row.Int("reserved_tokens"), row.Bool("spent")});
  }
  return budgets;
}

absl::StatusOr<bool> MarkSpent(Transaction& transaction, const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const ResultSet rows, transaction.Execute("budget_mark_spent", {search_id}));
  return !rows.empty();
}

absl::Status PutBatchBudget(Transaction& transaction, const std::string& batch_id, const BudgetLimits& limits) {
  return transaction
      .Execute("budget_put_batch", {batch_id, NanoDown(limits.max_usd), std::max<int64_t>(0, limits.max_tokens)})
      .status();
}

std::string UtcDay(int64_t wall_micros) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(wall_micros / 1'000'000)));
}

}  // namespace warpsmith::store
