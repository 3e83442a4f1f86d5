// Seeds of the cluster's simulation: some for every change, 2,000 of them where there is time (CI has it); that a seed
// repeats to the byte; and that statements broken on purpose are noticed. One seed alone, with its whole trace:
// WARPSMITH_SIMULATION_SEED=17 simulation_test
#include "tests/simulation/simulation.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "common/clock.h"

namespace warpsmith::simulation {
namespace {

constexpr uint64_t kSeeds = 100;  // what fits beside the other tests; the slow case has them all
constexpr uint64_t kAllSeeds = 2000;
constexpr int kFailuresShown = 3;

// The seeds that somebody wants to look at: "17" or "17-40"; 0: none.
std::pair<uint64_t, uint64_t> SeedsAskedFor() {
  const char* text = std::getenv("WARPSMITH_SIMULATION_SEED");
  if (text == nullptr) return {0, 0};
  char* end = nullptr;
  const uint64_t first = std::strtoull(text, &end, 10);
  return {first, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : first};
}
bool Asked() { return SeedsAskedFor().first != 0; }

void QuietLog() { spdlog::set_level(Asked() ? spdlog::level::info : spdlog::level::off); }

std::map<std::string, int> RunSeeds(uint64_t first, uint64_t last) {
  SimulatedStore simulated;
  const TimePoint started = RealClock().Now();
  std::map<std::string, int> endings;
  int failures = 0, coordinators = 0;
  int64_t events = 0, transactions = 0, statements = 0;
  double virtual_seconds = 0;
  for (uint64_t seed = first; seed <= last && failures < kFailuresShown; ++seed) {
    const Report report = Simulate(simulated, seed);
    if (!report.violations.empty()) {
      ++failures;
      FAIL_CHECK(Describe(report));
    }
    for (const auto& [ending, count] : report.endings) endings[ending] += count;
    coordinators += report.coordinators;
    events += report.events;
    transactions += report.transactions;
    statements += report.statements;
    virtual_seconds += report.virtual_seconds;
  }
  fmt::print(
      "seeds {} to {}: {:.1f} s, {:.0f} virtual hours, {} events, {} transactions, {} statements, {} coordinators\n",
      first, last, ToSeconds(RealClock().Now() - started), virtual_seconds / 3600, events, transactions, statements,
      coordinators);
  for (const auto& [ending, count] : endings) fmt::print("  {:6} {}\n", count, ending);
  return endings;
}

// Whether one of so many seeds violates something.
bool Noticed(const std::map<std::string, std::string>& broken, uint64_t seeds, std::string* what) {
  SimulatedStore simulated(broken);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const Report report = Simulate(simulated, seed);
    if (report.violations.empty()) continue;
    *what = fmt::format("seed {}: {}", seed, report.violations.front());
    return true;
  }
  return false;
}

TEST_CASE("what must hold holds over the first seeds", "[pg][simulation]") {
  QuietLog();
  if (Asked()) {
    SimulatedStore simulated;
    const auto [first, last] = SeedsAskedFor();
    for (uint64_t seed = first; seed <= last; ++seed) {
      const Report report = Simulate(simulated, seed, /*whole_trace=*/true);
      fmt::print("{}", first == last ? Describe(report) : fmt::format("seed {}: {:016x}\n", seed, report.trace_hash));
      std::fflush(stdout);
      INFO(Describe(report));
      CHECK(report.violations.empty());
    }
    return;
  }
  const auto endings = RunSeeds(1, kSeeds);
  // Most searches end as they should in spite of everything, and each strategy comes up.
  for (const char* strategy : {"branching", "sequential"})
    CHECK(endings.at(std::string(strategy) + " done/rounds") > 10);
}

TEST_CASE("what must hold holds over all seeds", "[.slow][pg][simulation]") {
  QuietLog();
  if (Asked()) return;
  RunSeeds(1, kAllSeeds);
}

TEST_CASE("a seed gives the same trace each time and whatever ran before", "[pg][simulation]") {
  if (Asked()) return;
  QuietLog();
  SimulatedStore simulated;
  std::map<uint64_t, uint64_t> hashes;
  for (uint64_t seed = 1; seed <= 12; ++seed) hashes[seed] = Simulate(simulated, seed).trace_hash;
  SimulatedStore fresh;
  for (uint64_t seed = 12; seed >= 1; --seed) {
    INFO("seed " << seed);
    CHECK(Simulate(fresh, seed).trace_hash == hashes[seed]);
  }
  CHECK(hashes[1] != hashes[2]);
}

TEST_CASE("statements that break a promise are noticed", "[.slow][pg][simulation]") {
  if (Asked()) return;
  QuietLog();
  std::string what;
  SECTION("a completion that is not fenced by its epoch") {
    CHECK(Noticed({{"task_complete",
                    "UPDATE task t SET state = 'done', finished_at = now(), result = done.result, lease_until = NULL, "
                    "deadline = NULL FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS done (id, epoch, result) "
                    "WHERE t.id = done.id AND t.state IN ('running', 'available') RETURNING t.id, done.epoch, t.kind, "
                    "t.state, t.search_id, t.candidate_id, t.round, t.stage, t.seed, t.priority, t.device_class, "
                    "t.deadline_seconds, t.owner_worker, t.owner_boot, t.problem_id"}},
                  400, &what));
    CHECK_THAT(what, Catch::Contains("which is not the completed one"));
  }
  SECTION("a reservation that is never settled") {
    CHECK(Noticed({{"budget_close", "SELECT $1::bigint, $2::boolean"}}, 200, &what));
  }
  SECTION("a term that nobody checks") { CHECK(Noticed({{"check_term", "SELECT $1::bigint"}}, 200, &what)); }
  SECTION("a rescue that never comes") {
    CHECK(Noticed({{"task_rescue", "SELECT t.*, true AS died FROM task t WHERE $1::integer < 0"}}, 200, &what));
  }
  fmt::print("{}\n", what);
}

}  // namespace
}  // namespace warpsmith::simulation
