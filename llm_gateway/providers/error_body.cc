#include "llm_gateway/providers/error_body.h"

#include <fmt/format.h>

#include <initializer_list>

#include "llm_gateway/providers/reply_json.h"
#include "llm_gateway/replies/text.h"
#include "llm_gateway/retry/rate_headers.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxErrorBytes = 2000;

bool HasAny(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (text.find(word) != text.npos) return true;
  }
  return false;
}

// What google.rpc's details say.
struct Details {
  std::optional<Duration> retry_after;
  bool quota_used_up = false;  // a day's, or one of nothing at all
  std::string reasons;
};

Details DetailsOf(const Json& error) {
  Details details;
  for (const Json& detail : Items(error, "details")) {
    std::string type = TextOf(detail, "@type");
    if (type.find("RetryInfo") != type.npos) details.retry_after = ParseSpan(TextOf(detail, "retryDelay"));
    details.reasons += " " + TextOf(detail, "reason");
    for (const Json& violation : Items(detail, "violations")) {
      std::string id = AsciiLower(TextOf(violation, "quotaId") + " " + TextOf(violation, "quotaMetric"));
      if (HasAny(id, {"perday", "per_day"}) || TextOf(violation, "quotaValue") == "0") details.quota_used_up = true;
    }
  }
  return details;
}

// By the words that providers use; nullopt: they say nothing.
std::optional<ErrorClass> ClassOfWords(const std::string& words, const std::string& message, const Details& details) {
  if (details.quota_used_up || HasAny(words, {"insufficient_quota", "billing", "insufficient_credit", "payment"}) ||
      HasAny(message, {"credit balance is too low"})) {
    return ErrorClass::kQuota;
  }
  const bool rate = HasAny(words, {"rate_limit", "resource_exhausted", "too_many_requests", " 429 ", "throttl"});
  // A limit of a day does not come back within any wait of ours.
  if (rate && HasAny(message, {"per day", "(rpd)", "(tpd)"})) return ErrorClass::kQuota;
  if (rate) return ErrorClass::kRateLimited;
  if (HasAny(words, {"context_length", "context_window", "request_too_large", " 413 "}) ||
      HasAny(message, {"maximum context length", "context window", "prompt is too long", "exceed context limit",
                       "input token count"})) {
    return ErrorClass::kContextLength;
  }
  if (HasAny(words, {"invalid_api_key", "authentication", "unauthenticated", "permission", "api_key_invalid",
                     "unauthorized", " 401 ", " 403 "})) {
    return ErrorClass::kAuthentication;
  }
  if (HasAny(words, {"not_found", "notfound", " 404 "})) return ErrorClass::kNotFound;
  if (HasAny(words, {"overloaded", "unavailable", "slow_down", " 503 ", " 529 "})) return ErrorClass::kOverloaded;
  if (HasAny(words,
             {"api_error", "server_error", "internal", "timeout", "deadline_exceeded", " 500 ", " 502 ", " 504 "})) {
    return ErrorClass::kServer;
  }
  if (HasAny(words, {"invalid", "failed_precondition", "out_of_range", "bad_request", "badrequest", "unsupported",
                     " 400 ", " 422 "})) {
    return ErrorClass::kInvalidRequest;
  }
  return std::nullopt;
}

ErrorClass ClassOfStatus(int status) {
  if (status >= 300 && status < 400) return ErrorClass::kRedirect;
  switch (status) {
    case 401:
    case 403:
      return ErrorClass::kAuthentication;
    case 402:
      return ErrorClass::kQuota;
    case 404:
      return ErrorClass::kNotFound;
    case 408:
    case 409:
      return ErrorClass::kServer;
    case 413:
      return ErrorClass::kContextLength;
    case 429:
      return ErrorClass::kRateLimited;
    case 503:
    case 529:
      return ErrorClass::kOverloaded;
    default:
      return status >= 500 ? ErrorClass::kServer : ErrorClass::kInvalidRequest;
  }
}

// A status is coarser than the words beside it, but only some of them can be believed over it.
ErrorClass Combine(ErrorClass by_status, std::optional<ErrorClass> by_words) {
  if (!by_words) return by_status;
  switch (by_status) {
    case ErrorClass::kInvalidRequest:
      return *by_words;
    case ErrorClass::kRateLimited:
      return *by_words == ErrorClass::kQuota || *by_words == ErrorClass::kOverloaded ? *by_words : by_status;
    case ErrorClass::kServer:
      return *by_words == ErrorClass::kOverloaded || *by_words == ErrorClass::kContextLength ? *by_words : by_status;
    case ErrorClass::kAuthentication:
      return *by_words == ErrorClass::kQuota ? *by_words : by_status;
    default:
      return by_status;
  }
}

bool Refused(const std::string& words) {
  return HasAny(words, {"content_filter", "content_policy", "invalid_prompt", "responsibleaipolicy"});
}

std::string Words(const Json& error, const Details& details) {
  std::string inner = TextOf(Member(error, "innererror"), "code");
  // Spaces all around, so that a number is not found inside another.
  return AsciiLower(fmt::format(" {} {} {} {} {} ", TextOf(error, "code"), TextOf(error, "type"),
                                TextOf(error, "status"), inner, details.reasons));
}

ServerError Read(const Json& error, const std::string& said, std::optional<int> status) {
  Details details = DetailsOf(error);
  std::string words = Words(error, details);
  ServerError result;
  result.message = said;
  result.retry_after = details.retry_after;
  const bool may_refuse = !status || *status == 400 || *status == 403 || *status == 422;
  if (may_refuse && Refused(words)) {
    result.refused = true;
    return result;
  }
  std::optional<ErrorClass> by_words = ClassOfWords(words, AsciiLower(said), details);
  result.error = status ? Combine(ClassOfStatus(*status), by_words) : by_words.value_or(ErrorClass::kServer);
  return result;
}

}  // namespace

Json ErrorOf(const Json& body) {
  const Json* object = &body;
  if (body.is_array() && !body.empty()) object = &body[0];
  if (!object->is_object()) return Json::object();
  auto found = object->find("error");
  if (found != object->end() && found->is_object()) return *found;
  if (found != object->end() && found->is_string()) return Json{{"message", *found}};
  if (object->contains("message")) return *object;
  if (found = object->find("detail"); found != object->end()) {
    return Json{
        {"message", found->is_string() ? *found : Json(found->dump(-1, ' ', false, Json::error_handler_t::replace))}};
  }
  return Json::object();
}

ServerError ReadErrorAnswer(int status, const HttpHeaders& headers, std::string_view body) {
  Json error = ErrorOf(ParseReply(body));
  std::string said = TextOf(error, "message");
  if (said.empty()) said = ValidText(body.substr(0, kMaxErrorBytes));
  if (std::string field = TextOf(error, "param"); !field.empty()) said += fmt::format(" (field {})", field);
  ServerError result = Read(error, said, status);
  std::string id = FindHeader(headers, "x-request-id");
  if (id.empty()) id = FindHeader(headers, "request-id");
  said = OneLine(ValidText(said), kMaxErrorBytes);
  result.message = fmt::format("HTTP {}{}{}{}", status, said.empty() ? "" : ": ", said,
                               id.empty() ? "" : fmt::format(" (request {})", OneLine(ValidText(id), 100)));
  return result;
}

ServerError ReadErrorEvent(const Json& event) {
  Json error = ErrorOf(event);
  ServerError result = Read(error, TextOf(error, "message"), std::nullopt);
  result.message = "the server reports an error in its answer: " + OneLine(ValidText(result.message), kMaxErrorBytes);
  return result;
}

}  // namespace warpsmith::gateway
