// How much of something passed in the last minute: what a limit a minute is checked against. Any minute, wherever it
// begins, holds at most the limit; one amount above the limit passes when nothing else is in the window and then counts
// for as many minutes as it is limits large, so that the average holds too.
// Threading: none; the owner locks. Units: amounts as the owner means them; time is kept in quarters of a second, each
// counted to its end. Source of the method: sliding window over fixed slots.
#ifndef WARPSMITH_LLM_GATEWAY_LIMITS_RATE_WINDOW_H_
#define WARPSMITH_LLM_GATEWAY_LIMITS_RATE_WINDOW_H_

#include <cstdint>
#include <deque>

#include "common/clock.h"

namespace warpsmith::gateway {

class RateWindow {
 public:
  // `limit` a minute; 0: none, then everything fits.
  bool Fits(TimePoint now, double amount, double limit);
  // When it will fit if only `ahead` passes before, which is several amounts one after the other; about, then. At least
  // `now`.
  TimePoint WhenFits(TimePoint now, double amount, double limit, double ahead = 0);
  void Take(TimePoint now, double amount);
  // What passed at `then` as `taken` was in truth `actual`. More than taken counts from now on where `then` is gone.
  void Correct(TimePoint then, double taken, double actual, TimePoint now);

 private:
  struct Slot {
    int64_t index = 0;
    double amount = 0;
  };
  static int64_t IndexOf(TimePoint time);
  static TimePoint Expiry(const Slot& slot, double limit);

  std::deque<Slot> slots_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_LIMITS_RATE_WINDOW_H_
