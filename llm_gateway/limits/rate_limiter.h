// Lets calls to one model go at the pace its limits allow: requests a minute, tokens a minute, calls in flight. Callers
// are served in the order in which they came; one that needs much holds back those behind it, so that it is never
// overtaken for ever. Tokens are counted as estimated when a call goes and corrected by what it took. A server that
// asks to be left alone pauses the model for every caller.
// Threading: all functions are safe from any thread; Acquire blocks (a fiber leaves its thread). Units: a minute;
// tokens in and out. Errors: in Admission. Tickets must not outlive their limiter.
#ifndef WARPSMITH_LLM_GATEWAY_LIMITS_RATE_LIMITER_H_
#define WARPSMITH_LLM_GATEWAY_LIMITS_RATE_LIMITER_H_

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "common/clock.h"
#include "llm_gateway/async/wait_point.h"
#include "llm_gateway/http/cancellation.h"
#include "llm_gateway/limits/rate_window.h"
#include "llm_gateway/retry/error_class.h"

namespace warpsmith::gateway {

// 0: no limit.
struct RateLimits {
  double requests_per_minute = 0;
  double tokens_per_minute = 0;
  int concurrency = 0;
};

// What replicas tell each other of a model.
struct ModelDemand {
  RateLimits configured;
  RateLimits in_force;
  int in_flight = 0;
  int waiting = 0;
};

class RateLimiter {
 public:
  RateLimiter(const RateLimits& limits, Clock& clock);

  // A call under way. Destroyed without Report, its estimate stands.
  class Ticket {
   public:
    Ticket(Ticket&& other) noexcept;
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket();

   private:
    friend class RateLimiter;
    Ticket(RateLimiter* owner, int64_t tokens, TimePoint since) : owner_(owner), tokens_(tokens), since_(since) {}
    RateLimiter* owner_;
    int64_t tokens_;
    TimePoint since_;
  };

  struct Admission {
    std::optional<Ticket> ticket;
    // Without a ticket: kOwnRateLimit (our limit; `message` says which and when the call could have gone), kRateLimited
    // (the server asked to be left alone for longer than the caller may wait), kCancelled.
    ErrorClass error = ErrorClass::kNone;
    std::string message;
    Duration waited{};
    // What stood in its way first: requests, tokens, concurrency, server (asked to be left alone), queue (others were
    // before it); empty where it did not wait.
    std::string limit;
  };

  // Waits at most `longest`; not at all for what is certain to take longer.
  Admission Acquire(int64_t tokens, Duration longest, Cancellation& cancellation);
  // Ends a call with what it took. `requests`: tries that were sent, 0 where none was.
  void Report(Ticket ticket, int64_t tokens, int requests = 1);

  // What this replica may use of the configured limits from now on. A share of 0 or above the configured limit is the
  // configured one.
  void SetShare(const RateLimits& share);
  // No call goes for this long.
  void Pause(Duration duration);

  ModelDemand Demand() const;
  // What the next caller in the row waits for; empty where nobody waits.
  std::string Describe() const;

 private:
  struct Waiter {
    int64_t tokens = 0;
    bool granted = false;
    bool cancelled = false;
    TimePoint since;
    WaitPoint ready;
  };
  struct Obstacle {
    std::string what;
    TimePoint until;
    bool known = true;       // false: until some call in flight ends
    bool servers = false;    // the server's wish, not our limit
    const char* limit = "";  // as Admission's
  };
  using Row = std::list<Waiter*>;

  // `caller`: who asks, where it stands in the row itself.
  void LetGo(TimePoint now, const Waiter* caller = nullptr);
  bool MayGo(TimePoint now, int64_t tokens) const;
  Obstacle ObstacleOf(TimePoint now, int64_t tokens, int64_t requests_ahead, int64_t tokens_ahead) const;
  void Refuse(const Waiter& waiter, TimePoint now, Duration longest, Admission& refusal) const;
  void WakeAll();

  const RateLimits configured_;
  Clock& clock_;
  mutable std::mutex mutex_;
  RateLimits limits_;
  Row row_;
  int in_flight_ = 0;
  TimePoint paused_until_{};
  mutable RateWindow requests_;
  mutable RateWindow tokens_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_LIMITS_RATE_LIMITER_H_
