// Who is told what stands between a call and its answer, for metrics. Threading: called from any thread and fiber;
// implementations must not wait.
#ifndef WARPSMITH_LLM_GATEWAY_LIMITS_CALL_OBSERVER_H_
#define WARPSMITH_LLM_GATEWAY_LIMITS_CALL_OBSERVER_H_

#include <string>

#include "common/clock.h"
#include "llm_gateway/retry/error_class.h"

namespace warpsmith::gateway {

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // A try was made again after this error.
  virtual void OnRetry(const std::string& /*model*/, ErrorClass) {}
  // It had to wait for its turn. `limit`: what stood in the way first, as RateLimiter::Admission names it.
  virtual void OnLimitWait(const std::string& /*model*/, const std::string& /*limit*/, Duration /*waited*/) {}
  // It did not fit into a budget: of the request, or the day's.
  virtual void OnBudgetRefusal(bool /*of_day*/) {}

  static CallObserver& None() {
    static CallObserver none;
    return none;
  }
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_LIMITS_CALL_OBSERVER_H_
