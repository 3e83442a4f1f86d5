// What may still be spent, in dollars and tokens, by calls that run at the same time: each reserves the most it may
// take before it starts and is charged what it took once that is known, so that what is spent and what is reserved
// never pass the limit together, however many calls run. The one exception is a call that took more than it had
// reserved: it is charged in full all the same, what is left stays at zero, and `over` tells by how much the limit was
// passed. Threading: safe from any thread. Units: US dollars, kept in whole billionths, and tokens. Errors: none; a
// reservation is had or not. Reservations must not outlive their budget.
#ifndef WARPSMITH_LLM_GATEWAY_LIMITS_CALL_BUDGET_H_
#define WARPSMITH_LLM_GATEWAY_LIMITS_CALL_BUDGET_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/clock.h"
#include "llm_gateway/async/wait_point.h"

namespace warpsmith::gateway {

class CallBudget {
 public:
  // 0: no limit of that kind.
  CallBudget(double max_usd, int64_t max_tokens);
  virtual ~CallBudget() = default;
  CallBudget(const CallBudget&) = delete;
  CallBudget& operator=(const CallBudget&) = delete;

  // What one call has set aside. Destroyed without Settle, it is charged whole: nobody knows what an abandoned call
  // took.
  class Reservation {
   public:
    Reservation(Reservation&& other) noexcept { Swap(other); }
    Reservation& operator=(Reservation&& other) noexcept;
    ~Reservation();
    double usd() const { return 1e-9 * static_cast<double>(nano_usd_); }
    int64_t tokens() const { return tokens_; }

   private:
    friend class CallBudget;
    Reservation(CallBudget* owner, int64_t nano_usd, int64_t tokens, int64_t period)
        : owner_(owner), nano_usd_(nano_usd), tokens_(tokens), period_(period) {}
    void Swap(Reservation& other) noexcept;

    CallBudget* owner_ = nullptr;
    int64_t nano_usd_ = 0;
    int64_t tokens_ = 0;
    int64_t period_ = 0;
  };

  // None where it does not fit, and for amounts that are no numbers or below zero.
  std::optional<Reservation> Reserve(double usd, int64_t tokens);
  // Ends the reservation with what the call took. An amount that is no number or below zero: the reservation's own.
  void Settle(Reservation reservation, double usd, int64_t tokens);
  // The call was never sent.
  void Release(Reservation reservation) { Settle(std::move(reservation), 0, 0); }
  // What was spent before this object began, for instance by the process before a restart.
  void AddSpent(double usd, int64_t tokens);

  // Whether it would fit if all calls in flight turned out to take nothing: then it is worth waiting for them.
  bool MayFitLater(double usd, int64_t tokens);
  // Returns once some reservation was settled since `settlements` had this value, or after `longest` of real time.
  void AwaitSettlement(uint64_t settlements, Duration longest);

  struct State {
    double max_usd = 0;  // 0: no limit
    double spent_usd = 0;
    double reserved_usd = 0;
    double over_usd = 0;  // by how much spent_usd passed max_usd
    int64_t max_tokens = 0;
    int64_t spent_tokens = 0;
    int64_t reserved_tokens = 0;
    int64_t over_tokens = 0;
    int64_t calls_in_flight = 0;
    int64_t calls_over_reservation = 0;  // that took more than they had reserved
    uint64_t settlements = 0;
  };
  // All of one moment.
  State state();
  bool limits_usd() const { return max_nano_usd_ > 0; }
  bool limits_tokens() const { return max_tokens_ > 0; }
  double usd_left();      // infinity where there is no limit; never below 0
  int64_t tokens_left();  // the greatest number where there is no limit; never below 0

 protected:
  // A number that grows each time that the budget begins anew.
  virtual int64_t Period() const { return 0; }

 private:
  void BeginAnewIfDue();
  void SettleNano(Reservation& reservation, int64_t nano_usd, int64_t tokens);

  const int64_t max_nano_usd_;
  const int64_t max_tokens_;
  std::mutex mutex_;
  WaitList settled_;  // guarded by mutex_
  std::optional<int64_t> period_;
  int64_t spent_nano_usd_ = 0;
  int64_t reserved_nano_usd_ = 0;
  int64_t spent_tokens_ = 0;
  int64_t reserved_tokens_ = 0;
  int64_t calls_in_flight_ = 0;
  int64_t calls_over_reservation_ = 0;
  uint64_t settlements_ = 0;
};

// A budget that begins anew at each midnight UTC. A call counts for the day on which it was reserved, whenever it ends.
// A wall clock set back does not bring an earlier day back.
class DayBudget final : public CallBudget {
 public:
  DayBudget(double max_usd, int64_t max_tokens, const Clock& clock) : CallBudget(max_usd, max_tokens), clock_(clock) {}

 protected:
  int64_t Period() const override;

 private:
  const Clock& clock_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_LIMITS_CALL_BUDGET_H_
