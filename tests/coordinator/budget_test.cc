// Budgets against a real PostgreSQL: never overrun, whatever comes at once; nothing that may have been spent forgotten.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <thread>

#include "tests/coordinator/budget_fixture.h"

namespace warpsmith::store {
namespace {

TEST_CASE("what is reserved is settled by what it cost, or charged whole", "[pg]") {
  BudgetFixture fixture;
  ReservationRequest request = Asking(0.25, 1000, 3);
  request.search = {1.0, 10'000};
  const Reservation first = fixture.Take(request);
  CHECK(first.calls == 3);
  CHECK(first.usd == Approx(0.75));
  CHECK(first.tokens == 3000);
  CHECK(first.usd_limited);
  CHECK(fixture.Of("search").reserved_usd == Approx(0.75));
  // One more fits whole, of three that were wanted.
  const Reservation second = fixture.Take(request);
  CHECK(second.calls == 1);
  const Reservation refused = fixture.Take(request);
  CHECK(refused.id == 0);
  CHECK(refused.refused_by == "search");
  CHECK(refused.may_fit_later);

  fixture.Record(first.id, "first", 0.1, 500);
  fixture.Close(first.id, false);
  CHECK(fixture.Of("search").used_usd == Approx(0.1));
  CHECK(fixture.Of("search").used_tokens == 500);
  fixture.Close(second.id, true);
  CHECK(fixture.Of("search").used_usd == Approx(0.35));
  CHECK(fixture.Of("search").reserved_usd == 0);
  CHECK(fixture.Of("day").used_usd == Approx(0.35));
  // Closed once.
  fixture.Close(first.id, true);
  fixture.Close(second.id, false);
  CHECK(fixture.Of("search").used_usd == Approx(0.35));
  CHECK(fixture.Query("SELECT state, lost_nano_usd, lost_tokens FROM reservation ORDER BY id") ==
        "settled|0|0\nabandoned|250000000|1000");
}

TEST_CASE("an abandoned call whose reply came in part is not charged twice", "[pg]") {
  BudgetFixture fixture;
  ReservationRequest request = Asking(0.25, 0, 2);
  const Reservation reservation = fixture.Take(request);
  CHECK(!reservation.usd_limited);
  fixture.Record(reservation.id, "a", 0.2, 10);
  fixture.Close(reservation.id, true);
  CHECK(fixture.Of("search").used_usd == Approx(0.5));
  const auto usage =
      fixture.Query("SELECT sum(usd) + (SELECT sum(lost_nano_usd) * 1e-9 FROM reservation) FROM llm_call");
  CHECK(std::stod(usage) == Approx(0.5));
}

TEST_CASE("the last call may be a smaller one, when nothing else is in flight", "[pg]") {
  BudgetFixture fixture;
  ReservationRequest request = Asking(1.0, 0, 4);
  request.search.max_usd = 1.5;
  const Reservation first = fixture.Take(request);
  CHECK(first.calls == 1);
  CHECK(fixture.Take(request).may_fit_later);
  fixture.Record(first.id, "a", 1.0, 0);
  fixture.Close(first.id, false);
  const Reservation second = fixture.Take(request);
  CHECK(second.calls == 1);
  CHECK(second.usd == Approx(0.5));
  fixture.Record(second.id, "b", 0.3, 0);
  fixture.Close(second.id, false);
  // Less than a quarter of a call is left.
  const Reservation third = fixture.Take(request);
  CHECK(third.id == 0);
  CHECK(!third.may_fit_later);
  // What costs nothing goes on.
  CHECK(fixture.Take(Asking(0)).id > 0);
}

TEST_CASE("each of search, batch and day can refuse, in dollars and tokens", "[pg]") {
  BudgetFixture fixture;
  ReservationRequest request = Asking(0.1, 100);
  SECTION("search, tokens") {
    request.search.max_tokens = 20;
    CHECK(fixture.Take(request).refused_by == "search");
  }
  SECTION("batch") {
    fixture.Run<bool>([&](Transaction& transaction) -> absl::StatusOr<bool> {
      WARPSMITH_RETURN_IF_ERROR(PutBatchBudget(transaction, "b", {0.15, 0}));
      return true;
    });
    request.batch_id = "b";
    CHECK(fixture.Take(request).id > 0);
    request.search_id = "s2";
    CHECK(fixture.Take(request).refused_by == "batch");
    request.batch_id = "";
    CHECK(fixture.Take(request).id > 0);
  }
  SECTION("day") {
    request.max_usd_per_day = 0.1;
    CHECK(fixture.Take(request).id > 0);
    request.search_id = "s2";
    const Reservation refused = fixture.Take(request);
    CHECK(refused.refused_by == "day");
    request.day = "2026-12-01";
    CHECK(fixture.Take(request).id > 0);
  }
  // A refusal leaves nothing behind.
  CHECK(fixture.Query("SELECT count(*) FROM reservation") ==
        fixture.Query("SELECT count(*) FROM reservation WHERE state = 'open'"));
  CHECK(fixture.Query("SELECT coalesce(sum(nano_usd), 0) FROM reservation") ==
        fixture.Query("SELECT coalesce(sum(reserved_nano_usd), 0) FROM budget WHERE scope = 'search'"));
}

TEST_CASE("a search of before budgets starts with what its calls had cost", "[pg]") {
  BudgetFixture fixture;
  fixture.Query(
      "INSERT INTO llm_call (idempotency_key, position, search_id, task_id, kind, round, provider, model, "
      "prompt_version, "
      "prompt_sha256, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, usd, first_byte_seconds, "
      "seconds, "
      "tries, finish_reason, error, raw_reply) VALUES ('old', 0, 's1', 1, 'repair', 1, '', '', '', '', 10, 0, 20, 30, "
      "0.5, "
      "0, 0, 1, '', '', '')");
  ReservationRequest request = Asking(0.2);
  request.search.max_usd = 0.6;
  CHECK(fixture.Take(request).usd == Approx(0.1));
  CHECK(fixture.Of("search").used_tokens == 60);
}

TEST_CASE("a thousand calls of many tasks at once overrun nothing, and crashes are charged", "[pg][property]") {
  BudgetFixture fixture;
  constexpr int kThreads = 16;
  constexpr int kCallsEach = 64;
  constexpr double kSearch = 8, kBatch = 13, kDay = 14;
  constexpr int64_t kTokens = 900'000;
  fixture.Run<bool>([&](Transaction& transaction) -> absl::StatusOr<bool> {
    WARPSMITH_RETURN_IF_ERROR(PutBatchBudget(transaction, "b", {kBatch, 0}));
    return true;
  });
  PostgresDatabase database(fixture.conninfo, SqlLibrary::LoadShipped().value(), kThreads, RealClock());
  std::atomic<int> granted{0}, refused{0}, crashed{0}, overrun{0};
  std::atomic<bool> done{false};
  // Watches while it happens: used and reserved together stay within every limit.
  std::thread watcher([&] {
    while (!done) {
      const std::string over = fixture.Query(
          "SELECT count(*) FROM budget WHERE max_nano_usd > 0 AND used_nano_usd + reserved_nano_usd > max_nano_usd OR "
          "max_tokens > 0 AND used_tokens + reserved_tokens > max_tokens");
      if (over != "0") ++overrun;
    }
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(static_cast<unsigned>(thread));
      const auto draw = [&](double high) { return std::uniform_real_distribution<double>(0, high)(random); };
      for (int call = 0; call < kCallsEach; ++call) {
        ReservationRequest request =
            Asking(draw(0.12), static_cast<int64_t>(draw(9000)), 1 + static_cast<int>(draw(3)));
        request.task_id = thread * 1000 + call;
        request.search_id = random() % 2 == 0 ? "s1" : "s2";
        request.batch_id = "b";
        request.search = {kSearch, kTokens};
        request.max_usd_per_day = kDay;
        const bool crash = random() % 8 == 0;
        Reservation reservation;
        absl::Status status = database.Write([&](Transaction& transaction) -> absl::Status {
          WARPSMITH_ASSIGN_OR_RETURN(reservation, Reserve(transaction, request));
          return absl::OkStatus();
        });
        if (!status.ok()) throw std::runtime_error(Message(status));
        if (reservation.id == 0) {
          ++refused;
          continue;
        }
        ++granted;
        // The calls themselves, each within what it was let.
        status = database.Write([&](Transaction& transaction) -> absl::Status {
          for (int i = 0; i < reservation.calls; ++i) {
            if (crash && i > 0) break;
            WARPSMITH_RETURN_IF_ERROR(
                transaction
                    .Execute("llm_call_insert", {fmt::format("{}/{}", thread, call),
                                                 i,
                                                 request.search_id,
                                                 request.task_id,
                                                 "implement",
                                                 1,
                                                 "p",
                                                 "m",
                                                 "v",
                                                 "",
                                                 static_cast<int64_t>(draw(1) * reservation.tokens / reservation.calls),
                                                 0,
                                                 0,
                                                 0,
                                                 std::floor(draw(1) * reservation.usd / reservation.calls * 1e9) / 1e9,
                                                 0.0,
                                                 0.0,
                                                 1,
                                                 "stop",
                                                 "",
                                                 Bytes{""},
                                                 reservation.id,
                                                 0,
                                                 0,
                                                 "",
                                                 false,
                                                 "",
                                                 "",
                                                 "",
                                                 false})
                    .status());
          }
          if (crash) return absl::OkStatus();
          return CloseReservation(transaction, reservation.id, false);
        });
        if (!status.ok()) throw std::runtime_error(Message(status));
        if (crash) ++crashed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  watcher.join();
  CHECK(overrun == 0);
  CHECK(granted > 100);
  CHECK(refused > 20);
  REQUIRE(crashed > 5);
  CHECK(fixture.Query("SELECT count(*) FROM reservation WHERE state = 'open'") == std::to_string(crashed));

  // A coordinator starts: what was open is charged whole, and still nothing is over.
  const double before = fixture.Of("day").used_usd;
  const double open = fixture.Of("day").reserved_usd;
  CHECK(open > 0);
  fixture.Run<bool>([&](Transaction& transaction) -> absl::StatusOr<bool> {
    WARPSMITH_RETURN_IF_ERROR(AbandonAllReservations(transaction));
    return true;
  });
  CHECK(fixture.Of("day").used_usd == Approx(before + open));
  CHECK(fixture.Query("SELECT count(*) FROM budget WHERE reserved_nano_usd <> 0 OR reserved_tokens <> 0") == "0");
  CHECK(fixture.Query(
            "SELECT count(*) FROM budget WHERE max_nano_usd > 0 AND used_nano_usd > max_nano_usd OR max_tokens > 0 "
            "AND used_tokens > max_tokens") == "0");
  // Nothing is forgotten: each budget is the sum of what its reservations were charged.
  CHECK(fixture.Query("SELECT sum(used_nano_usd), sum(used_tokens) FROM budget WHERE scope = 'search'") ==
        fixture.Query("SELECT sum(charged_nano_usd), sum(charged_tokens) FROM reservation"));
  CHECK(fixture.Query(
            "SELECT count(*) FROM reservation WHERE charged_nano_usd > nano_usd OR charged_tokens > tokens") == "0");
}

}  // namespace
}  // namespace warpsmith::store
