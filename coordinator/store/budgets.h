// Money and tokens set aside before models are called, and settled afterwards.
// Each budget (of a search, of its batch, of the UTC day) keeps what is used and what is reserved for calls in flight;
// used + reserved never goes over a limit, since a reservation is one statement that locks every budget concerned. A
// reservation is the most that its calls can cost. It is closed with what the recorded calls did cost, or, where nobody
// knows (the coordinator died, the answer did not come), at the whole of what was reserved: a limit may be reached too
// early, never overrun. The exception is a provider that bills more than the gateway's own estimate of the worst.
// Threading: pure functions over a transaction. Units: US dollars (kept as whole nanodollars, rounded up) and tokens,
// in and out; 0 is no limit.
#ifndef WARPSMITH_COORDINATOR_STORE_BUDGETS_H_
#define WARPSMITH_COORDINATOR_STORE_BUDGETS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/store/database.h"

namespace warpsmith::store {

struct BudgetLimits {
  double max_usd = 0;
  int64_t max_tokens = 0;
};

struct ReservationRequest {
  int64_t task_id = 0;
  int64_t epoch = 0;
  std::string idempotency_key;
  std::string search_id;
  std::string batch_id;  // empty: in none
  std::string day;       // UtcDay
  std::string kind;      // propose, implement, repair
  std::string arm;
  int calls = 1;  // at most; fewer are granted where not all fit
  int pulls = 1;  // propose: ideas asked for
  double usd_a_call = 0;
  int64_t tokens_a_call = 0;
  BudgetLimits search;
  double max_usd_per_day = 0;
};

struct Reservation {
  int64_t id = 0;  // 0: refused
  int calls = 0;
  double usd = 0;
  int64_t tokens = 0;
  bool usd_limited = false;  // some budget concerned has a limit in dollars
  bool tokens_limited = false;
  std::string refused_by;      // search, batch, day
  bool may_fit_later = false;  // what is in flight may cost less than is reserved for it
};

absl::StatusOr<Reservation> Reserve(Transaction& transaction, const ReservationRequest& request);
// Charges what its recorded calls cost, or at least all of it where it is abandoned. Again: no change.
absl::Status CloseReservation(Transaction& transaction, int64_t id, bool abandoned);
// What an earlier try to reserve for this call left open, since nobody heard of its commit. For one who is about to
// make the call and has not made it yet.
absl::Status ReleaseUnused(Transaction& transaction, const std::string& idempotency_key, int64_t task_id,
                           int64_t epoch);
// Everything that a task left open, when it is taken up again; or everything, when a coordinator starts.
absl::Status AbandonReservationsOf(Transaction& transaction, int64_t task_id);
absl::Status AbandonAllReservations(Transaction& transaction);

struct Budget {
  std::string scope;  // search, batch, day
  double max_usd = 0;
  int64_t max_tokens = 0;
  double used_usd = 0;
  int64_t used_tokens = 0;
  double reserved_usd = 0;
  int64_t reserved_tokens = 0;
  bool spent = false;  // of a search: not even its cheapest call fits any more
};

// Those that exist; a limit stands as it was at the last reservation.
absl::StatusOr<std::vector<Budget>> GetBudgets(Transaction& transaction, const std::string& batch_id,
                                               const std::string& day, const std::string& search_id);
// False: it was marked before.
absl::StatusOr<bool> MarkSpent(Transaction& transaction, const std::string& search_id);
// A batch's budget, made or changed.
absl::Status PutBatchBudget(Transaction& transaction, const std::string& batch_id, const BudgetLimits& limits);

std::string UtcDay(int64_t wall_micros);  // 2026-11-30

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_BUDGETS_H_
