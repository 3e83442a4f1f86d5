#include "llm_gateway/retry/rate_headers.h"

#include <catch2/catch.hpp>

namespace warpsmith::gateway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kWall = 1'700'000'000'000'000;  // 2023-11-14T22:13:20Z

TEST_CASE("spans", "[unit]") {
  CHECK(ParseSpan("12ms") == milliseconds(12));
  CHECK(ParseSpan("1s") == seconds(1));
  CHECK(ParseSpan("6m0s") == seconds(360));
  CHECK(ParseSpan("1h2m3.5s") == milliseconds(3723500));
  CHECK(ParseSpan("34.074824224s")->count() == Approx(34.074824224e9).margin(10));
  CHECK(ParseSpan("20") == seconds(20));
  CHECK(ParseSpan("1d") == seconds(86400));
  CHECK(ParseSpan("250us") == std::chrono::microseconds(250));
  CHECK(ParseSpan("99999999999999d") == FromSeconds(1e8));
  for (const char* nonsense : {"", "s", "-1s", "1x", "1..5s", ".", "soon", "1 s", "999999999999999999999999s"}) {
    INFO(nonsense);
    CHECK_FALSE(ParseSpan(nonsense).has_value());
  }
}

TEST_CASE("instants", "[unit]") {
  CHECK(ParseRfc3339("2023-11-14T22:13:20Z") == kWall);
  CHECK(ParseRfc3339("2023-11-14T22:13:20.25Z") == kWall + 250'000);
  CHECK(ParseRfc3339("2023-11-15T00:13:20+02:00") == kWall);
  CHECK(ParseRfc3339("2023-11-14T20:13:20-02:00") == kWall);
  for (const char* nonsense : {"", "2023-11-14", "2023-11-14T22:13:20", "2023-13-14T22:13:20Z", "2023-11-14T22:13:20Zx",
                               "2023-11-14T22:13:20.Z", "2023-11-14T22:13:20+2", "14/11/2023 22:13:20Z"}) {
    INFO(nonsense);
    CHECK_FALSE(ParseRfc3339(nonsense).has_value());
  }
}

TEST_CASE("limits as each provider states them", "[unit]") {
  ServerLimits limits = ParseServerLimits({{"x-ratelimit-limit-requests", "500"},
                                           {"x-ratelimit-remaining-requests", "499"},
                                           {"x-ratelimit-limit-tokens", "30000"},
                                           {"x-ratelimit-remaining-tokens", "0"}});
  CHECK(limits.limit_requests == 500);
  CHECK(limits.remaining_requests == 499);
  CHECK(limits.limit_tokens == 30000);
  CHECK(limits.remaining_tokens == 0);
  limits = ParseServerLimits({{"anthropic-ratelimit-requests-limit", "50"},
                              {"anthropic-ratelimit-requests-remaining", "49"},
                              {"anthropic-ratelimit-tokens-limit", "90000"},
                              {"anthropic-ratelimit-tokens-remaining", "89000"},
                              {"anthropic-ratelimit-input-tokens-limit", "50000"}});
  CHECK(limits.limit_requests == 50);
  CHECK(limits.limit_tokens == 90000);
  CHECK(limits.remaining_tokens == 89000);
  limits = ParseServerLimits({{"anthropic-ratelimit-input-tokens-limit", "50000"}});
  CHECK(limits.limit_tokens == 50000);
  // What Azure may send for what it does not know.
  limits = ParseServerLimits({{"x-ratelimit-limit-requests", "-1"},
                              {"x-ratelimit-remaining-requests", "-1"},
                              {"x-ratelimit-limit-tokens", "0"},
                              {"x-ratelimit-remaining-tokens", "0"}});
  CHECK(limits.limit_requests == -1);
  CHECK(limits.remaining_requests == -1);
  CHECK(limits.limit_tokens == -1);
  CHECK(limits.remaining_tokens == -1);
  CHECK(ParseServerLimits({{"x-ratelimit-limit-requests", "many"}}).limit_requests == -1);
  CHECK(ParseServerLimits({}).limit_tokens == -1);
}

TEST_CASE("the reset that matters", "[unit]") {
  CHECK(ParseReset({{"x-ratelimit-limit-requests", "500"},
                    {"x-ratelimit-remaining-requests", "0"},
                    {"x-ratelimit-reset-requests", "12ms"},
                    {"x-ratelimit-limit-tokens", "30000"},
                    {"x-ratelimit-remaining-tokens", "29000"},
                    {"x-ratelimit-reset-tokens", "6m0s"}},
                   kWall) == milliseconds(12));
  CHECK(ParseReset({{"x-ratelimit-reset-requests", "12ms"}, {"x-ratelimit-reset-tokens", "6m0s"}}, kWall) ==
        seconds(360));
  CHECK(ParseReset({{"x-ratelimit-reset-requests", "2s"}}, kWall) == seconds(2));
  auto reset = ParseReset({{"anthropic-ratelimit-output-tokens-remaining", "0"},
                           {"anthropic-ratelimit-output-tokens-limit", "8000"},
                           {"anthropic-ratelimit-output-tokens-reset", "2023-11-14T22:13:27Z"},
                           {"anthropic-ratelimit-requests-reset", "2023-11-14T22:14:20Z"}},
                          kWall);
  REQUIRE(reset.has_value());
  CHECK(ToSeconds(*reset) == Approx(7).margin(0.001));
  CHECK(ParseReset({{"anthropic-ratelimit-tokens-reset", "2020-01-01T00:00:00Z"}}, kWall) == seconds(0));
  CHECK_FALSE(ParseReset({{"x-ratelimit-reset-tokens", "soon"}}, kWall).has_value());
  CHECK_FALSE(ParseReset({}, kWall).has_value());
}

}  // namespace
}  // namespace warpsmith::gateway
