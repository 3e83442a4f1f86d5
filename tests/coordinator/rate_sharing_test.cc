// How the limits of models are shared among the gateway's replicas.
#include "coordinator/engine/rate_sharing.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace warpsmith::engine {
namespace {

double Sum(const std::vector<double>& shares) { return std::accumulate(shares.begin(), shares.end(), 0.0); }

v1::ShareRatesRequest Asking(const std::string& gateway, int in_flight, int waiting, double requests = 100,
                             double tokens = 1e6, int concurrency = 32) {
  v1::ShareRatesRequest request;
  request.set_gateway_id(gateway);
  v1::ModelDemand* demand = request.add_demands();
  demand->set_model("m");
  demand->set_in_flight(in_flight);
  demand->set_waiting(waiting);
  demand->set_requests_per_minute(requests);
  demand->set_tokens_per_minute(tokens);
  demand->set_concurrency(concurrency);
  return request;
}

TEST_CASE("shares go by demand, with a floor, and sum to the limit at most", "[property]") {
  std::mt19937 random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    const double limit = std::exp(std::uniform_real_distribution<double>(-3, 20)(random));
    std::vector<double> demands(1 + random() % 40);
    for (double& demand : demands) demand = random() % 3 == 0 ? 0 : random() % 500;
    const std::vector<double> shares = SharesOf(limit, demands);
    CHECK(Sum(shares) <= limit);
    CHECK(Sum(shares) >= limit * 0.999);
    for (size_t i = 0; i < shares.size(); ++i) {
      CHECK(shares[i] >= 0.19 * limit / static_cast<double>(shares.size()));
      for (size_t j = 0; j < shares.size(); ++j)
        CHECK((demands[i] < demands[j] || shares[i] >= shares[j] * (1 - 1e-9)));
    }
    const int calls = 1 + static_cast<int>(random() % 200);
    const std::vector<int> whole = CallSharesOf(calls, demands);
    const int total = std::accumulate(whole.begin(), whole.end(), 0);
    CHECK(total == std::max(calls, static_cast<int>(demands.size())));
    for (int share : whole) CHECK(share >= 1);
  }
}

TEST_CASE("replicas that come, go and change never hold more than the limit together", "[property]") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    FakeClock clock;
    RateSharing sharing(clock);
    std::map<std::string, v1::ModelShare> held;  // as the replicas go on with them
    std::map<std::string, TimePoint> asked;
    for (int step = 0; step < 400; ++step) {
      const std::string gateway = fmt::format("g{}", random() % 7);
      const auto reply =
          sharing.Share(Asking(gateway, static_cast<int>(random() % 20), static_cast<int>(random() % 50)));
      REQUIRE(reply.shares_size() == 1);
      CHECK(reply.valid_seconds() == kRateShareSeconds);
      const v1::ModelShare& share = reply.shares(0);
      // 0 would be no limit.
      CHECK(share.requests_per_minute() > 0);
      CHECK(share.tokens_per_minute() > 0);
      CHECK(share.concurrency() >= 1);
      held[gateway] = share;
      asked[gateway] = clock.Now();
      std::erase_if(held, [&](const auto& entry) {
        return clock.Now() - asked[entry.first] > FromSeconds(3 * kRateShareSeconds);
      });
      CHECK(reply.replicas() == static_cast<int>(held.size()));
      double requests = 0, tokens = 0;
      int concurrency = 0;
      for (const auto& [name, one] : held) {
        requests += one.requests_per_minute();
        tokens += one.tokens_per_minute();
        concurrency += one.concurrency();
      }
      CHECK(requests <= 100);
      CHECK(tokens <= 1e6);
      CHECK(concurrency <= 32 + static_cast<int>(held.size()));
      clock.Advance(std::chrono::milliseconds(random() % 1500));
    }
  }
}

TEST_CASE("a newcomer has its part as soon as the others have asked again", "[unit]") {
  FakeClock clock;
  RateSharing sharing(clock);
  CHECK(sharing.Share(Asking("a", 5, 0)).shares(0).requests_per_minute() == Approx(98).epsilon(1e-6));
  CHECK(sharing.Share(Asking("a", 5, 0)).shares(0).concurrency() == 32);
  const auto first = sharing.Share(Asking("b", 0, 15));
  CHECK(first.replicas() == 2);
  CHECK(first.shares(0).requests_per_minute() < 2);
  CHECK(sharing.Share(Asking("a", 5, 0)).shares(0).requests_per_minute() ==
        Approx(98 * (0.1 + 0.8 * 0.25)).epsilon(1e-6));
  const auto second = sharing.Share(Asking("b", 0, 15));
  CHECK(second.shares(0).requests_per_minute() == Approx(98 * (0.1 + 0.8 * 0.75)).epsilon(1e-6));
  CHECK(second.shares(0).concurrency() + sharing.Share(Asking("a", 5, 0)).shares(0).concurrency() <= 32);

  // Gone without a word: its part is free again after a while.
  clock.Advance(std::chrono::seconds(13));
  const auto alone = sharing.Share(Asking("b", 1, 0));
  CHECK(alone.replicas() == 1);
  CHECK(alone.shares(0).requests_per_minute() == Approx(98).epsilon(1e-6));
}

TEST_CASE("no limit stays none, and of different limits the smallest holds", "[unit]") {
  FakeClock clock;
  RateSharing sharing(clock);
  const auto free = sharing.Share(Asking("a", 1, 0, 0, 0, 0));
  CHECK(free.shares(0).requests_per_minute() == 0);
  CHECK(free.shares(0).tokens_per_minute() == 0);
  CHECK(free.shares(0).concurrency() == 0);
  sharing.Share(Asking("b", 1, 0, 50));
  const double other = sharing.Share(Asking("c", 1, 0, 500)).shares(0).requests_per_minute();
  CHECK(other <= 50);
  CHECK(sharing.Share(Asking("d", -5, -7, NAN, -3, -1)).shares(0).requests_per_minute() <= 50);
}

}  // namespace
}  // namespace warpsmith::engine
