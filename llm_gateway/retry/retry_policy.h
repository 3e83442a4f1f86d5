// Whether a failed call is tried again, and after how long: a pure decision over the class of the error, the tries
// made, the time spent, and what the server asked for. Time and chance come from the caller. Threading: pure functions.
// Units: Durations; wall time in microseconds since 1970 UTC. Source of the method: RFC 9110 section 10.2.3
// (Retry-After), the headers retry-after-ms and x-should-retry as OpenAI's clients read them, and the providers' rate
// headers.
#ifndef WARPSMITH_LLM_GATEWAY_RETRY_RETRY_POLICY_H_
#define WARPSMITH_LLM_GATEWAY_RETRY_RETRY_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "common/clock.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/retry/error_class.h"

namespace warpsmith::gateway {

struct RetryHints {
  std::optional<Duration> retry_after;  // how long the server asked to be left alone
  std::optional<Duration> reset_after;  // until its rate limit is whole again: less may do
  std::optional<bool> should_retry;     // the server's own opinion
};

// Reads the headers of the latest failure. retry-after-ms wins over Retry-After, and both over the rate headers'
// resets, which count for a 429 only; values that make no sense are ignored.
RetryHints ParseRetryHints(int status, const HttpHeaders& headers, int64_t wall_micros);

struct RetryPolicy {
  int max_tries = 4;  // the first one included
  Duration first_wait = std::chrono::milliseconds(500);
  Duration longest_wait = std::chrono::seconds(30);    // of the policy's own waits, and for a limit's reset
  Duration longest_asked = std::chrono::seconds(120);  // a server that asks for more is not waited for
  Duration total{};                                    // over all tries and waits; 0: none
};

// How long a server that gave these hints wants to be left alone as far as the policy goes along; nullopt: it does not
// say.
std::optional<Duration> AskedWait(const RetryPolicy& policy, const RetryHints& hints);

struct RetryDecision {
  bool retry = false;
  Duration wait{};
  std::string reason;  // why not, for people
};

// `tries` made so far (at least 1), `elapsed` since the first began, `random` in [0, 1).
RetryDecision DecideRetry(const RetryPolicy& policy, ErrorClass error, int tries, Duration elapsed,
                          const RetryHints& hints, double random);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_RETRY_RETRY_POLICY_H_
