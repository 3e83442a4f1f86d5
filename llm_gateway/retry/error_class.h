// What kinds of failure a model call can have: the retry policy, messages and later fallbacks go by these alone.
// Threading: pure.
#ifndef WARPSMITH_LLM_GATEWAY_RETRY_ERROR_CLASS_H_
#define WARPSMITH_LLM_GATEWAY_RETRY_ERROR_CLASS_H_

#include <string_view>

namespace warpsmith::gateway {

enum class ErrorClass {
  kNone,
  kConnect,  // nobody there, or no connection in time
  kTls,
  kFirstByteTimeout,
  kIdleTimeout,
  kTotalTimeout,
  kCut,  // the answer broke off
  kRateLimited,
  kQuota,       // insufficient_quota and its kind: more tries only cost time
  kServer,      // 5xx, 408, 409
  kOverloaded,  // 503, 529
  kAuthentication,
  kNotFound,       // no such model or path
  kContextLength,  // the prompt does not fit
  kInvalidRequest,
  kMalformedReply,  // not what the API promises
  kTooLarge,
  kRedirect,
  kCancelled,
  kConfiguration,  // the model is not usable as configured
  // Ours, not the provider's:
  kBudget,        // the call would cost more than what is left
  kOwnRateLimit,  // our own limit would not let it go before its deadline
  kCircuitOpen,   // the model failed again and again; not asked
  kNotRecorded,   // a replay that does not know the call
};

std::string_view Name(ErrorClass error);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_RETRY_ERROR_CLASS_H_
