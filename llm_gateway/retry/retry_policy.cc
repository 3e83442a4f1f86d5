#include "llm_gateway/retry/retry_policy.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "llm_gateway/retry/rate_headers.h"

namespace warpsmith::gateway {
namespace {

std::optional<double> ParseNumber(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (*end != 0 || !std::isfinite(value) || value < 0) return std::nullopt;
  return std::min(value, 1e8);
}

// How often a class may be tried in all; 1 is not at all. A try that ran into a long deadline may have been billed in
// full, so it gets one more chance and no more.
int TriesOf(ErrorClass error, int max_tries) {
  switch (error) {
    case ErrorClass::kConnect:
    case ErrorClass::kCut:
    case ErrorClass::kRateLimited:
    case ErrorClass::kServer:
    case ErrorClass::kOverloaded:
      return max_tries;
    case ErrorClass::kFirstByteTimeout:
    case ErrorClass::kIdleTimeout:
    case ErrorClass::kMalformedReply:
      return std::min(2, max_tries);
    default:
      return 1;
  }
}

}  // namespace

std::string_view Name(ErrorClass error) {
  switch (error) {
    case ErrorClass::kNone:
      return "none";
    case ErrorClass::kConnect:
      return "connect";
    case ErrorClass::kTls:
      return "tls";
    case ErrorClass::kFirstByteTimeout:
      return "first_byte_timeout";
    case ErrorClass::kIdleTimeout:
      return "idle_timeout";
    case ErrorClass::kTotalTimeout:
      return "total_timeout";
    case ErrorClass::kCut:
      return "cut";
    case ErrorClass::kRateLimited:
      return "rate_limited";
    case ErrorClass::kQuota:
      return "quota";
    case ErrorClass::kServer:
      return "server";
    case ErrorClass::kOverloaded:
      return "overloaded";
    case ErrorClass::kAuthentication:
      return "authentication";
    case ErrorClass::kNotFound:
      return "not_found";
    case ErrorClass::kContextLength:
      return "context_length";
    case ErrorClass::kInvalidRequest:
      return "invalid_request";
    case ErrorClass::kMalformedReply:
      return "malformed_reply";
    case ErrorClass::kTooLarge:
      return "too_large";
    case ErrorClass::kRedirect:
      return "redirect";
    case ErrorClass::kCancelled:
      return "cancelled";
    case ErrorClass::kConfiguration:
      return "configuration";
    case ErrorClass::kBudget:
      return "budget";
    case ErrorClass::kOwnRateLimit:
      return "own_rate_limit";
    case ErrorClass::kCircuitOpen:
      return "circuit_open";
    case ErrorClass::kNotRecorded:
      return "not_recorded";
  }
  return "unknown";
}

RetryHints ParseRetryHints(int status, const HttpHeaders& headers, int64_t wall_micros) {
  RetryHints hints;
  std::string should = FindHeader(headers, "x-should-retry");
  if (should == "true" || should == "false") hints.should_retry = should == "true";
  if (auto milliseconds = ParseNumber(FindHeader(headers, "retry-after-ms"))) {
    hints.retry_after = FromSeconds(*milliseconds / 1000);
    return hints;
  }
  std::string after = FindHeader(headers, "retry-after");
  if (auto seconds = ParseNumber(after)) {
    hints.retry_after = FromSeconds(*seconds);
  } else if (!after.empty()) {
    time_t instant = curl_getdate(after.c_str(), nullptr);
    if (instant > 0) {
      hints.retry_after =
          FromSeconds(std::clamp(static_cast<double>(instant) - 1e-6 * static_cast<double>(wall_micros), 0.0, 1e8));
    }
  }
  if (!hints.retry_after && status == 429) hints.reset_after = ParseReset(headers, wall_micros);
  return hints;
}

std::optional<Duration> AskedWait(const RetryPolicy& policy, const RetryHints& hints) {
  if (hints.retry_after) return *hints.retry_after;
  // A bucket fills little by little: there is room long before it is full, so this wait is never the longest one.
  if (hints.reset_after) return std::min(*hints.reset_after, policy.longest_wait);
  return std::nullopt;
}

RetryDecision DecideRetry(const RetryPolicy& policy, ErrorClass error, int tries, Duration elapsed,
                          const RetryHints& hints, double random) {
  int allowed = TriesOf(error, policy.max_tries);
  if (hints.should_retry.has_value() && error != ErrorClass::kQuota && error != ErrorClass::kAuthentication &&
      error != ErrorClass::kCancelled) {
    allowed = *hints.should_retry ? policy.max_tries : 1;
  }
  if (allowed <= 1) return {false, {}, fmt::format("errors of kind {} are not retried", Name(error))};
  if (tries >= allowed) return {false, {}, fmt::format("{} tries were made", tries)};

  // Doubling from first_wait, less up to a quarter by chance so that callers do not come back all at once.
  double own = ToSeconds(policy.first_wait) * std::pow(2.0, std::min(tries - 1, 30));
  own = std::min(own, ToSeconds(policy.longest_wait)) * (1.0 - 0.25 * std::clamp(random, 0.0, 1.0));
  Duration wait = FromSeconds(own);
  if (hints.retry_after.has_value()) {
    if (*hints.retry_after > policy.longest_asked) {
      return {false,
              {},
              fmt::format("the server asks to wait {:.0f} s, more than the {:.0f} s allowed",
                          ToSeconds(*hints.retry_after), ToSeconds(policy.longest_asked))};
    }
  }
  // Never sooner than asked; a little later, again so that not all come back at once.
  if (std::optional<Duration> asked = AskedWait(policy, hints)) wait = *asked + FromSeconds(0.1 * own);
  if (policy.total.count() > 0 && elapsed + wait >= policy.total) {
    return {
        false, {}, fmt::format("the total deadline of {:g} s leaves no time for another try", ToSeconds(policy.total))};
  }
  return {true, wait, ""};
}

}  // namespace warpsmith::gateway
