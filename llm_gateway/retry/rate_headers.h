// The rate headers of OpenAI (x-ratelimit-*, Azure's too) and Anthropic (anthropic-ratelimit-*): limits, what is left,
// and when they are whole again. Values that make no sense count as not said.
// Threading: pure functions. Units: Durations; wall time in microseconds since 1970 UTC.
// Source of the method: both providers' documentation of rate limits; RFC 3339.
#ifndef WARPSMITH_LLM_GATEWAY_RETRY_RATE_HEADERS_H_
#define WARPSMITH_LLM_GATEWAY_RETRY_RATE_HEADERS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/clock.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/retry/server_limits.h"

namespace warpsmith::gateway {

ServerLimits ParseServerLimits(const HttpHeaders& headers);

// Until the limits that are used up are whole again; where none is said to be used up, until the tokens are (a request
// was too large for what was left of them).
std::optional<Duration> ParseReset(const HttpHeaders& headers, int64_t wall_micros);

// "12ms", "1s", "6m0s", "1h2m3.5s", "20" (seconds).
std::optional<Duration> ParseSpan(std::string_view text);
// "2026-01-31T12:00:00Z", with a fraction and an offset where there is one; microseconds since 1970 UTC.
std::optional<int64_t> ParseRfc3339(std::string_view text);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_RETRY_RATE_HEADERS_H_
