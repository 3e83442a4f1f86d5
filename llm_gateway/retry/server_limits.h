// A provider's rate limits as the headers of an answer state them.
// Threading: a value. Units: requests and tokens of the provider's own window; -1: not said.
#ifndef WARPSMITH_LLM_GATEWAY_RETRY_SERVER_LIMITS_H_
#define WARPSMITH_LLM_GATEWAY_RETRY_SERVER_LIMITS_H_

#include <cstdint>

namespace warpsmith::gateway {

struct ServerLimits {
  int64_t limit_requests = -1;
  int64_t limit_tokens = -1;
  int64_t remaining_requests = -1;
  int64_t remaining_tokens = -1;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_RETRY_SERVER_LIMITS_H_
