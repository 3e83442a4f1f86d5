// Budgets where calls are given up, made again, and answered from what the gateway had kept: paid once, told once.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/coordinator/budget_fixture.h"

namespace warpsmith::store {
namespace {

TEST_CASE("a reply that was kept is charged where the call was that it was made for", "[pg]") {
  BudgetFixture fixture;
  ReservationRequest request = Asking(0.25, 1000, 2);
  request.search = {1.0, 10'000};
  const Reservation first = fixture.Take(request);
  fixture.Record(first.id, "k", 0.1, 300);
  fixture.Close(first.id, true);
  CHECK(fixture.Of("search").used_usd == Approx(0.5));
  // The same call again: its second part was made meanwhile.
  request.calls = 1;
  const Reservation second = fixture.Take(request);
  fixture.Record(second.id, "k", 0.2, 700, true, 1);
  fixture.Close(second.id, false);
  CHECK(fixture.Of("search").used_usd == Approx(0.5));
  CHECK(fixture.Of("search").used_tokens == 2000);
  CHECK(fixture.Query("SELECT state, charged_nano_usd, charged_tokens, lost_nano_usd, lost_tokens FROM reservation "
                      "ORDER BY id") == "abandoned|500000000|2000|200000000|1000\nsettled|0|0|0|0");
  // One that was made anew is paid for, and so is one that another search's call of the same name kept.
  request.search_id = "s2";
  const Reservation third = fixture.Take(request);
  fixture.Record(third.id, "k", 0.2, 700, true, 2, "s2");
  fixture.Close(third.id, false);
  request.search_id = "s1";
  const Reservation fourth = fixture.Take(request);
  fixture.Record(fourth.id, "k", 0.2, 700, false, 3);
  fixture.Close(fourth.id, false);
  CHECK(fixture.Query("SELECT charged_nano_usd FROM reservation ORDER BY id") == "500000000\n0\n200000000\n200000000");
}

// What calls cost, when they are given up, and what the gateway keeps is drawn; the provider's bill is known here.
TEST_CASE("whatever is given up and kept, the books show at least the bill and never more than the limits",
          "[pg][property]") {
  constexpr int kSeeds = 12;
  constexpr int kCallsOfASeed = 30;
  BudgetFixture fixture;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const std::string search = fmt::format("seed{}", seed);
    fixture.AddSearch(search);
    std::mt19937 random(seed);
    const auto draw = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    const auto nano = [](double usd) { return static_cast<int64_t>(std::llround(usd * 1e9)); };
    int64_t billed = 0;
    for (int call = 0; call < kCallsOfASeed; ++call) {
      ReservationRequest request = Asking(0.02, 500, 3);
      request.task_id = call;
      request.idempotency_key = fmt::format("{} call {}", search, call);
      request.search_id = search;
      request.search = {1.0, 30'000};
      std::vector<std::pair<double, int64_t>> made;  // replies in the order of their positions
      size_t told = 0;                               // of them were recorded
      for (bool answered = false; !answered;) {
        request.calls = static_cast<int>(3 - told);
        const Reservation reservation = fixture.Take(request);
        if (reservation.id == 0) break;
        const auto ends = static_cast<size_t>(reservation.calls) + told;
        const bool given_up = random() % 3 == 0;
        const size_t makes = given_up ? told + random() % (ends - told + 1) : ends;
        const size_t tells = given_up ? told + random() % (std::max(made.size(), makes) - told + 1) : ends;
        const size_t kept = made.size();
        while (made.size() < makes) {
          const double usd = std::floor(draw(0, reservation.usd / reservation.calls) * 1e9) / 1e9;
          made.emplace_back(usd,
                            static_cast<int64_t>(draw(0, static_cast<double>(reservation.tokens / reservation.calls))));
          billed += nano(usd);
        }
        for (; told < tells; ++told) {
          fixture.Record(reservation.id, request.idempotency_key, made[told].first, made[told].second, told < kept,
                         static_cast<int>(told), search);
        }
        fixture.Close(reservation.id, given_up);
        answered = told == 3;
      }
    }
    const auto one = [&](const std::string& what) { return fixture.Query(fmt::format(fmt::runtime(what), search)); };
    CHECK(one("SELECT count(*) FROM budget WHERE scope = 'search' AND id = '{}' AND (used_nano_usd > max_nano_usd OR "
              "used_tokens > max_tokens OR reserved_nano_usd <> 0)") == "0");
    const std::string used = one("SELECT used_nano_usd FROM budget WHERE scope = 'search' AND id = '{}'");
    CHECK(billed > 0);
    CHECK(std::stoll(used) >= billed);
    // A budget is what its reservations were charged, and that is what is recorded and what was lost.
    CHECK(used == one("SELECT sum(charged_nano_usd) FROM reservation WHERE search_id = '{}'"));
    CHECK(used == one("SELECT (SELECT sum(ceil(usd * 1e9))::bigint FROM llm_call WHERE search_id = s.id) + (SELECT "
                      "sum(lost_nano_usd) FROM reservation WHERE search_id = s.id) FROM search s WHERE s.id = '{}'"));
    CHECK(one("SELECT count(*) FROM reservation WHERE search_id = '{}' AND (lost_nano_usd < 0 OR lost_tokens < 0)") ==
          "0");
  }
}

}  // namespace
}  // namespace warpsmith::store
