#include "llm_gateway/service/day_ledger.h"

#include <catch2/catch.hpp>

#include "common/file.h"
#include "common/json.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("a restart goes on with what the day has cost, the next day does not", "[unit]") {
  const auto folder = TemporaryDirectory::Create("ledger").value();
  const std::filesystem::path file = folder.path() / "data" / "day_budget.json";
  FakeClock clock;
  {
    DayBudget day(10, 0, clock);
    auto ledger = DayLedger::Open(file, day, clock).value();
    day.Settle(day.Reserve(3, 100).value(), 2.5, 70);
  }
  DayBudget day(10, 0, clock);
  {
    auto ledger = DayLedger::Open(file, day, clock).value();
    CHECK(day.state().spent_usd == Approx(2.5));
    CHECK(day.state().spent_tokens == 70);
    // Given up by a crash: what was set aside counts.
    auto under_way = day.Reserve(4, 10);
    REQUIRE(ledger->Write().ok());
    DayBudget other(10, 0, clock);
    auto second = DayLedger::Open(file, other, clock).value();
    CHECK(other.state().spent_usd == Approx(6.5));
    CHECK_FALSE(other.Reserve(4, 0));
    CHECK(other.Reserve(3, 0));
  }
  clock.Advance(std::chrono::hours(24));
  DayBudget tomorrow(10, 0, clock);
  auto ledger = DayLedger::Open(file, tomorrow, clock).value();
  CHECK(tomorrow.state().spent_usd == 0);
}

TEST_CASE("it is written by itself while something changes, and not otherwise", "[unit]") {
  const auto folder = TemporaryDirectory::Create("ledger").value();
  const std::filesystem::path file = folder.path() / "day_budget.json";
  FakeClock clock;
  DayBudget day(10, 0, clock);
  auto ledger = DayLedger::Open(file, day, clock).value();
  day.AddSpent(1, 5);
  Json json;
  for (int i = 0; i < 500 && !json.is_object(); ++i) {
    RealClock().SleepFor(std::chrono::milliseconds(20));
    if (auto text = ReadFile(file); text.ok()) json = Json::parse(*text, nullptr, false);
    if (json.is_object() && json["usd"] != 1) json = nullptr;
  }
  REQUIRE(json.is_object());
  CHECK(json["tokens"] == 5);
  REQUIRE(ledger->Write().ok());
  std::filesystem::remove(file);
  REQUIRE(ledger->Write().ok());
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("a file that says nothing stops the start and names the remedy", "[unit]") {
  const auto folder = TemporaryDirectory::Create("ledger").value();
  const std::filesystem::path file = folder.path() / "day_budget.json";
  FakeClock clock;
  DayBudget day(10, 0, clock);
  for (const char* text :
       {"", "{", "[]", R"({"day": 1, "usd": "x", "tokens": 1})", R"({"day": 1, "usd": -1, "tokens": 1})"}) {
    REQUIRE(WriteFileAtomically(file, text).ok());
    const absl::Status status = DayLedger::Open(file, day, clock).status();
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(Message(status), Contains(file.string()) && Contains("remove it"));
  }
}

}  // namespace
}  // namespace warpsmith::gateway
