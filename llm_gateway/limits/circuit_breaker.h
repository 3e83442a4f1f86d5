// Stops asking a model that fails again and again for reasons of its own, and finds out with one call at a time whether
// it is well again. What the caller did wrong never counts against the model.
// Threading: safe from any thread. Errors: none; a permit is had or not. Permits must not outlive their breaker.
#ifndef WARPSMITH_LLM_GATEWAY_LIMITS_CIRCUIT_BREAKER_H_
#define WARPSMITH_LLM_GATEWAY_LIMITS_CIRCUIT_BREAKER_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "llm_gateway/retry/error_class.h"

namespace warpsmith::gateway {

struct CircuitPolicy {
  int failures = 5;                                // in a row, that open it
  Duration first_open = std::chrono::seconds(30);  // doubled with each probe that fails
  Duration longest_open = std::chrono::seconds(10 * 60);
};

enum class CircuitState { kClosed, kOpen, kHalfOpen };  // half open: one call may find out
std::string_view Name(CircuitState state);              // closed, open, half_open

class CircuitBreaker {
 public:
  CircuitBreaker(const CircuitPolicy& policy, const Clock& clock) : policy_(policy), clock_(clock) {}

  // Leave to make one call. Destroyed without Report, the call does not count.
  class Permit {
   public:
    Permit(Permit&& other) noexcept;
    Permit& operator=(Permit&&) = delete;
    ~Permit();

   private:
    friend class CircuitBreaker;
    Permit(CircuitBreaker* owner, int64_t generation, bool probe)
        : owner_(owner), generation_(generation), probe_(probe) {}
    CircuitBreaker* owner_;
    int64_t generation_;
    bool probe_;
  };

  // Why the model is not to be asked now; empty: it may be. Takes nothing.
  std::string WhyNot() const;
  // None where the circuit is open, or half open with a probe under way.
  std::optional<Permit> Ask();
  void Report(Permit permit, ErrorClass outcome);
  CircuitState state() const;

 private:
  void Open(Duration how_long);
  bool Due() const;  // an open circuit's time is over

  const CircuitPolicy policy_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  bool open_ = false;
  bool probing_ = false;
  int failures_ = 0;
  int64_t generation_ = 0;  // calls begun before the last change of state do not count
  Duration open_for_{};
  TimePoint open_until_{};
  ErrorClass last_ = ErrorClass::kNone;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_LIMITS_CIRCUIT_BREAKER_H_
