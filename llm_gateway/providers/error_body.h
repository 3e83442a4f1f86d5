// What a provider's error means, read from the status and the body of an answer, or from an event of its stream: one
// table for all providers, since servers that speak one's format pass on the errors of another's.
// Threading: pure functions. Units: Durations. Messages hold the server's own words, bounded, on one line.
// Source of the method: the error pages of OpenAI, Anthropic and Gemini (google.rpc.Status, RetryInfo, QuotaFailure).
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_ERROR_BODY_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_ERROR_BODY_H_

#include <optional>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/json.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/retry/error_class.h"

namespace warpsmith::gateway {

struct ServerError {
  ErrorClass error = ErrorClass::kNone;  // kNone only with `refused`
  bool refused = false;                  // the prompt was turned down for what it says: an answer, put as an error
  std::string message;
  std::optional<Duration> retry_after;  // that the body names
};

// An answer whose status is no success.
ServerError ReadErrorAnswer(int status, const HttpHeaders& headers, std::string_view body);
// An error that came in an answer's stream: {"error": {...}}, or {"code", "message"} as they are.
ServerError ReadErrorEvent(const Json& event);
// {"error": {...}}, {"error": "text"}, [{"error": ...}], {"message": ...}, {"detail": ...}; {} where it is none of
// them.
Json ErrorOf(const Json& body);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_ERROR_BODY_H_
