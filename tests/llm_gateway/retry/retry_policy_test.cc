#include "llm_gateway/retry/retry_policy.h"

#include <catch2/catch.hpp>

namespace warpsmith::gateway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kPolicyWall = 1'700'000'000'000'000;  // Tue, 14 Nov 2023 22:13:20 GMT

TEST_CASE("what is retried, and how often", "[unit]") {
  RetryPolicy policy;
  struct Row {
    ErrorClass error;
    int tries_allowed;
  };
  for (Row row : {Row{ErrorClass::kConnect, 4},
                  {ErrorClass::kCut, 4},
                  {ErrorClass::kRateLimited, 4},
                  {ErrorClass::kServer, 4},
                  {ErrorClass::kOverloaded, 4},
                  {ErrorClass::kFirstByteTimeout, 2},
                  {ErrorClass::kIdleTimeout, 2},
                  {ErrorClass::kMalformedReply, 2},
                  {ErrorClass::kTotalTimeout, 1},
                  {ErrorClass::kQuota, 1},
                  {ErrorClass::kAuthentication, 1},
                  {ErrorClass::kInvalidRequest, 1},
                  {ErrorClass::kContextLength, 1},
                  {ErrorClass::kNotFound, 1},
                  {ErrorClass::kTls, 1},
                  {ErrorClass::kTooLarge, 1},
                  {ErrorClass::kRedirect, 1},
                  {ErrorClass::kCancelled, 1},
                  {ErrorClass::kConfiguration, 1},
                  {ErrorClass::kBudget, 1},
                  {ErrorClass::kOwnRateLimit, 1},
                  {ErrorClass::kCircuitOpen, 1},
                  {ErrorClass::kNotRecorded, 1}}) {
    INFO(Name(row.error));
    for (int tries = 1; tries <= 5; ++tries) {
      RetryDecision decision = DecideRetry(policy, row.error, tries, seconds(0), {}, 0.5);
      CHECK(decision.retry == (tries < row.tries_allowed));
      CHECK(decision.retry == decision.reason.empty());
    }
  }
}

TEST_CASE("waits double, have a ceiling, and shrink by chance up to a quarter", "[unit]") {
  RetryPolicy policy;
  policy.max_tries = 100;
  auto wait = [&](int tries, double random) {
    return DecideRetry(policy, ErrorClass::kServer, tries, seconds(0), {}, random).wait;
  };
  CHECK(wait(1, 0) == milliseconds(500));
  CHECK(wait(2, 0) == milliseconds(1000));
  CHECK(wait(4, 0) == milliseconds(4000));
  CHECK(wait(1, 1) == milliseconds(375));
  CHECK(wait(50, 0) == seconds(30));
}

TEST_CASE("a server's wish to wait is kept, but not without end", "[unit]") {
  RetryPolicy policy;
  RetryHints hints;
  hints.retry_after = seconds(7);
  RetryDecision decision = DecideRetry(policy, ErrorClass::kRateLimited, 1, seconds(0), hints, 0.3);
  CHECK(decision.retry);
  CHECK(decision.wait >= seconds(7));
  CHECK(decision.wait < seconds(8));
  hints.retry_after = seconds(3600);
  decision = DecideRetry(policy, ErrorClass::kRateLimited, 1, seconds(0), hints, 0.3);
  CHECK_FALSE(decision.retry);
  CHECK(decision.reason.find("3600") != std::string::npos);
}

TEST_CASE("a rate limit's reset is waited for up to the policy's own ceiling", "[unit]") {
  RetryPolicy policy;
  HttpHeaders headers = {{"x-ratelimit-reset-tokens", "7s"}};
  RetryHints hints = ParseRetryHints(429, headers, kPolicyWall);
  CHECK_FALSE(hints.retry_after.has_value());
  CHECK(hints.reset_after == seconds(7));
  RetryDecision decision = DecideRetry(policy, ErrorClass::kRateLimited, 1, seconds(0), hints, 0);
  CHECK(decision.retry);
  CHECK(decision.wait >= seconds(7));
  CHECK(decision.wait < seconds(8));
  hints.reset_after = seconds(3600);
  decision = DecideRetry(policy, ErrorClass::kRateLimited, 1, seconds(0), hints, 0);
  CHECK(decision.retry);
  CHECK(decision.wait >= seconds(30));
  CHECK(decision.wait < seconds(31));
  CHECK(AskedWait(policy, hints) == seconds(30));

  CHECK_FALSE(ParseRetryHints(500, headers, kPolicyWall).reset_after.has_value());
  headers.emplace_back("retry-after", "2");
  hints = ParseRetryHints(429, headers, kPolicyWall);
  CHECK(hints.retry_after == seconds(2));
  CHECK_FALSE(hints.reset_after.has_value());
  CHECK(AskedWait(policy, hints) == seconds(2));
  CHECK_FALSE(AskedWait(policy, {}).has_value());
}

TEST_CASE("the total deadline counts every try and wait", "[unit]") {
  RetryPolicy policy;
  policy.total = seconds(10);
  CHECK(DecideRetry(policy, ErrorClass::kServer, 1, seconds(9), {}, 0).retry);
  CHECK_FALSE(DecideRetry(policy, ErrorClass::kServer, 1, milliseconds(9600), {}, 0).retry);
  RetryHints hints;
  hints.retry_after = seconds(9);
  CHECK_FALSE(DecideRetry(policy, ErrorClass::kRateLimited, 1, seconds(1), hints, 0).retry);
}

TEST_CASE("x-should-retry overrules the class, but not for keys and quotas", "[unit]") {
  RetryPolicy policy;
  RetryHints yes, no;
  yes.should_retry = true;
  no.should_retry = false;
  CHECK(DecideRetry(policy, ErrorClass::kInvalidRequest, 1, seconds(0), yes, 0).retry);
  CHECK_FALSE(DecideRetry(policy, ErrorClass::kServer, 1, seconds(0), no, 0).retry);
  CHECK_FALSE(DecideRetry(policy, ErrorClass::kQuota, 1, seconds(0), yes, 0).retry);
  CHECK_FALSE(DecideRetry(policy, ErrorClass::kAuthentication, 1, seconds(0), yes, 0).retry);
}

TEST_CASE("every form of the headers", "[unit]") {
  auto after = [](HttpHeaders headers) { return ParseRetryHints(429, headers, kPolicyWall).retry_after; };
  CHECK(after({{"retry-after-ms", "250"}}) == milliseconds(250));
  CHECK(after({{"retry-after", "3"}}) == seconds(3));
  CHECK(after({{"retry-after", "1.5"}}) == milliseconds(1500));
  CHECK(after({{"retry-after", "3"}, {"retry-after-ms", "100"}}) == milliseconds(100));
  CHECK(after({{"retry-after", "3"}, {"retry-after-ms", "soon"}}) == seconds(3));
  auto date = after({{"retry-after", "Tue, 14 Nov 2023 22:13:30 GMT"}});
  REQUIRE(date.has_value());
  CHECK(ToSeconds(*date) == Approx(10).margin(0.001));
  CHECK(after({{"retry-after", "Tue, 14 Nov 2023 22:00:00 GMT"}}) == seconds(0));
  CHECK_FALSE(after({{"retry-after", "-5"}}).has_value());
  CHECK_FALSE(after({{"retry-after", "in a while"}}).has_value());
  CHECK_FALSE(after({{"retry-after", ""}}).has_value());
  CHECK_FALSE(after({}).has_value());
  CHECK(after({{"retry-after", "nan"}}).has_value() == false);
  CHECK(after({{"retry-after", "1e300"}}) == FromSeconds(1e8));
  CHECK(ParseRetryHints(500, {{"x-should-retry", "false"}}, kPolicyWall).should_retry == false);
  CHECK_FALSE(ParseRetryHints(500, {{"x-should-retry", "perhaps"}}, kPolicyWall).should_retry.has_value());
}

}  // namespace
}  // namespace warpsmith::gateway
