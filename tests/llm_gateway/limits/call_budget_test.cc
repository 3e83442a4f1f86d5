#include "llm_gateway/limits/call_budget.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

using namespace warpsmith;
using namespace warpsmith::gateway;

TEST_CASE("a budget is reserved, settled and released", "[unit]") {
  CallBudget budget(1.0, 1000);
  auto first = budget.Reserve(0.6, 400);
  REQUIRE(first);
  CHECK(first->usd() == Approx(0.6));
  CHECK(budget.usd_left() == Approx(0.4));
  CHECK(budget.tokens_left() == 600);
  CHECK_FALSE(budget.Reserve(0.41, 1));
  CHECK_FALSE(budget.Reserve(0.1, 601));
  CHECK(budget.MayFitLater(0.9, 900));
  CHECK_FALSE(budget.MayFitLater(1.1, 1));
  budget.Settle(std::move(*first), 0.2, 150);
  CHECK(budget.usd_left() == Approx(0.8));
  CHECK(budget.tokens_left() == 850);
  auto second = budget.Reserve(0.8, 850);
  REQUIRE(second);
  budget.Release(std::move(*second));
  CHECK(budget.usd_left() == Approx(0.8));
  CHECK_FALSE(budget.MayFitLater(0.9, 1));
  CHECK(budget.state().calls_in_flight == 0);
}

TEST_CASE("the last billionth of a dollar can be spent, and no more", "[unit]") {
  CallBudget budget(0.3, 0);
  for (int i = 0; i < 3; ++i) {
    auto reservation = budget.Reserve(0.1, 0);
    REQUIRE(reservation);
    budget.Settle(std::move(*reservation), 0.1, 0);
  }
  CHECK(budget.usd_left() == 0);
  CHECK_FALSE(budget.Reserve(1e-9, 0));
  CHECK(budget.Reserve(0, 5));
}

TEST_CASE("an abandoned reservation is charged whole", "[unit]") {
  CallBudget budget(1.0, 1000);
  { auto reservation = budget.Reserve(0.5, 300); }
  CHECK(budget.state().spent_usd == Approx(0.5));
  CHECK(budget.state().spent_tokens == 300);
  CHECK(budget.state().reserved_usd == 0);
  // One overwritten by another counts too.
  auto reservation = budget.Reserve(0.1, 10);
  auto other = budget.Reserve(0.2, 20);
  reservation = std::move(other);
  CHECK(budget.state().spent_usd == Approx(0.6));
  CHECK(budget.state().reserved_usd == Approx(0.2));
}

TEST_CASE("a call that took more than it reserved is recorded in full", "[unit]") {
  CallBudget budget(1.0, 100);
  auto reservation = budget.Reserve(0.9, 90);
  budget.Settle(std::move(*reservation), 1.5, 130);
  CallBudget::State state = budget.state();
  CHECK(state.spent_usd == Approx(1.5));
  CHECK(state.over_usd == Approx(0.5));
  CHECK(state.over_tokens == 30);
  CHECK(state.calls_over_reservation == 1);
  CHECK(budget.usd_left() == 0);
  CHECK(budget.tokens_left() == 0);
  CHECK_FALSE(budget.Reserve(0, 1));
}

TEST_CASE("amounts that make no sense are refused or charged as reserved", "[unit]") {
  CallBudget budget(1.0, 100);
  CHECK_FALSE(budget.Reserve(std::nan(""), 0));
  CHECK_FALSE(budget.Reserve(-0.1, 0));
  CHECK_FALSE(budget.Reserve(std::numeric_limits<double>::infinity(), 0));
  CHECK_FALSE(budget.Reserve(0, -1));
  CHECK_FALSE(budget.Reserve(1e300, 0));
  auto reservation = budget.Reserve(0.5, 50);
  budget.Settle(std::move(*reservation), std::nan(""), -5);
  CHECK(budget.state().spent_usd == Approx(0.5));
  CHECK(budget.state().spent_tokens == 50);
}

TEST_CASE("no limit of a kind lets everything pass and still counts", "[unit]") {
  CallBudget budget(0, 0);
  auto reservation = budget.Reserve(1e6, 1'000'000'000);
  REQUIRE(reservation);
  budget.Settle(std::move(*reservation), 3, 7);
  CHECK(budget.state().spent_usd == Approx(3));
  CHECK(std::isinf(budget.usd_left()));
  CHECK(budget.tokens_left() == std::numeric_limits<int64_t>::max());
  CHECK_FALSE(budget.limits_usd());
}

TEST_CASE("1,000 concurrent calls never overrun", "[unit]") {
  constexpr double kUsd = 5.0;
  constexpr int64_t kTokens = 2'000'000;
  constexpr int kThreads = 50, kCalls = 20;
  CallBudget budget(kUsd, kTokens);
  std::atomic<int> over{0}, made{0}, refused{0};
  std::atomic<int64_t> expected_tokens{0};
  auto check = [&] {
    CallBudget::State state = budget.state();
    if (state.spent_usd + state.reserved_usd > kUsd + 1e-9) ++over;
    if (state.spent_tokens + state.reserved_tokens > kTokens) ++over;
    if (state.spent_usd < 0 || state.reserved_usd < 0 || state.over_usd != 0 || state.over_tokens != 0) ++over;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<uint64_t>(t) * 7919 + 1);
      std::uniform_real_distribution<double> fraction(0, 1);
      for (int i = 0; i < kCalls; ++i) {
        double most = 0.05 * fraction(random);
        auto tokens = static_cast<int64_t>(20'000 * fraction(random));
        auto reservation = budget.Reserve(most, tokens);
        check();
        if (!reservation) {
          ++refused;
          continue;
        }
        ++made;
        std::this_thread::yield();
        double fate = fraction(random);
        if (fate < 0.2) {  // failed before anything was billed
          budget.Release(std::move(*reservation));
        } else if (fate < 0.4) {  // abandoned
          expected_tokens += tokens;
          reservation.reset();
        } else {
          auto taken = static_cast<int64_t>(static_cast<double>(tokens) * fraction(random));
          expected_tokens += taken;
          budget.Settle(std::move(*reservation), most * fraction(random), taken);
        }
        check();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(over == 0);
  CHECK(made + refused == kThreads * kCalls);
  CHECK(refused > 0);  // else the limit was never in play
  CHECK(budget.state().reserved_usd == 0);
  CHECK(budget.state().reserved_tokens == 0);
  CHECK(budget.state().calls_in_flight == 0);
  CHECK(budget.state().spent_tokens == expected_tokens);
}

TEST_CASE("waiting for a settlement ends with it", "[unit]") {
  CallBudget budget(1.0, 0);
  auto reservation = budget.Reserve(1.0, 0);
  uint64_t before = budget.state().settlements;
  std::thread other([&] { budget.Settle(std::move(*reservation), 0.1, 0); });
  budget.AwaitSettlement(before, std::chrono::seconds(20));
  CHECK(budget.state().settlements > before);
  other.join();
  auto start = std::chrono::steady_clock::now();
  budget.AwaitSettlement(budget.state().settlements, std::chrono::milliseconds(20));
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(20));
}

TEST_CASE("a day's budget begins anew at midnight UTC", "[unit]") {
  FakeClock clock;  // starts at 22:13:20 UTC
  DayBudget budget(10, 0, clock);
  auto late = budget.Reserve(4, 0);
  auto spent = budget.Reserve(5, 0);
  budget.Settle(std::move(*spent), 5, 0);
  CHECK(budget.usd_left() == Approx(1));
  clock.Advance(std::chrono::hours(1) + std::chrono::minutes(46));  // 23:59:20
  CHECK(budget.usd_left() == Approx(1));
  clock.Advance(std::chrono::seconds(40));
  CHECK(budget.usd_left() == Approx(10));
  // What was reserved yesterday belongs to yesterday.
  budget.Settle(std::move(*late), 4, 0);
  CHECK(budget.usd_left() == Approx(10));
  CHECK(budget.state().reserved_usd == 0);
  budget.AddSpent(9.5, 0);
  CHECK_FALSE(budget.Reserve(1, 0));
  clock.Advance(std::chrono::hours(24));
  CHECK(budget.Reserve(10, 0));
}

TEST_CASE("a wall clock set back does not bring spent money back", "[unit]") {
  struct SetBack final : Clock {
    int64_t wall = 1'700'000'000'000'000;
    TimePoint Now() const override { return {}; }
    int64_t WallMicros() const override { return wall; }
    void SleepFor(Duration) override {}
  } clock;
  DayBudget budget(10, 0, clock);
  budget.AddSpent(9, 0);
  clock.wall -= int64_t{48} * 3600 * 1'000'000;
  CHECK(budget.usd_left() == Approx(1));
}
