#include "tests/coordinator/search/simulation.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

namespace warpsmith::search {
namespace {

SearchValues RandomValues(std::mt19937_64& random) {
  auto upto = [&](int n) { return 1 + static_cast<int>(random() % static_cast<uint64_t>(n)); };
  SearchValues values;
  values.rounds = upto(5);
  values.parents = upto(4);
  values.ideas = upto(4);
  values.implementations = upto(4);
  values.repairs = upto(3) - 1;
  values.round_deadline_seconds = 100;
  values.confirm = upto(4) - 1;
  if (random() % 3 == 0) values.max_usd = 0.05 * upto(20);
  if (random() % 3 == 0) values.max_tokens = 5000 * upto(20);
  if (random() % 3 == 0) values.max_gpu_hours = 0.02 * upto(20);
  if (random() % 3 == 0) values.stop_after_rounds_without_gain = upto(2);
  values.islands = upto(5);
  values.migration_rounds = upto(4) - 1;
  return values;
}

}  // namespace

TEST_CASE("random searches end, keep within counts and budgets, and repeat exactly", "[unit]") {
  const std::string name = GENERATE("branching", "sequential", "best_of_n", "evolve");
  auto strategy = MakeStrategy(name);
  REQUIRE(strategy.ok());
  std::map<std::string, int> reasons;
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    std::mt19937_64 random(seed);
    SearchValues values = RandomValues(random);
    values.strategy = name;
    World world;
    world.correct_share = static_cast<double>(random() % 100) / 100;
    world.lost_share = static_cast<double>(random() % 30) / 100;
    world.late_share = static_cast<double>(random() % 30) / 100;
    world.dry_share = static_cast<double>(random() % 30) / 100;
    if (random() % 4 == 0) world.roofline_log_ratio = 0.2;
    Simulation simulation(**strategy, values, world, seed);
    INFO(name << " seed " << seed);
    REQUIRE(simulation.Run());
    if (!simulation.problems().empty()) FAIL(simulation.problems().front());
    ++reasons[simulation.finish_reason()];
    // Calls cost the same here, so the limit is kept but for calls made before the first cost was known.
    const int64_t first = name == "best_of_n" ? std::max<int64_t>(1, CallsARound(values) / 2) : values.parents;
    if (values.max_usd > 0) {
      CHECK(simulation.snapshot().usage.usd <= values.max_usd + 1e-9 + static_cast<double>(first) * 0.01);
    }

    if (seed % 5 != 0) continue;
    Simulation again(**strategy, values, world, seed);
    REQUIRE(again.Run());
    CHECK(again.decisions() == simulation.decisions());
    CHECK(again.snapshot().candidates.size() == simulation.snapshot().candidates.size());
    CHECK(again.finish_reason() == simulation.finish_reason());
  }
  // The worlds are varied enough to end in every way.
  for (const char* reason : {"rounds", "no_gain", "budget", "ideas_exhausted", "roofline"}) {
    INFO(name << " " << reason);
    CHECK(reasons[reason] > 0);
  }
  CHECK(reasons.size() == 5);
}

TEST_CASE("with a kind world branching makes rounds of B*I*K and improves", "[unit]") {
  auto strategy = MakeStrategy("branching");
  SearchValues values;
  values.repairs = 0;
  values.round_deadline_seconds = 1000;
  World world{
      .correct_share = 0.8, .lost_share = 0, .late_share = 0, .rejected_share = 0, .dry_share = 0, .inject_share = 0};
  Simulation simulation(**strategy, values, world, 7);
  REQUIRE(simulation.Run());
  CHECK(simulation.problems().empty());
  CHECK(simulation.finish_reason() == "rounds");
  CHECK(simulation.snapshot().ideas.size() == 5 * 9);
  CHECK(simulation.snapshot().candidates.size() == 5 * 27);
  double first = -1e9;
  double last = -1e9;
  for (const CandidateView& c : simulation.snapshot().candidates) {
    if (c.outcome != v1::OUTCOME_OK) continue;
    double& best = c.round == 1 ? first : last;
    best = std::max(best, c.log_ratio);
  }
  CHECK(last > first);
}

TEST_CASE("at equal tokens every strategy spends them, and none spends more", "[unit]") {
  for (const std::string& name : StrategyNames()) {
    INFO(name);
    auto strategy = MakeStrategy(name);
    SearchValues values;
    values.strategy = name;
    values.rounds = 1000;
    values.parents = values.ideas = values.implementations = 2;
    values.max_tokens = 120'000;  // of 1,000 each: 120 calls
    values.round_deadline_seconds = 1000;
    World world;
    world.late_share = world.dry_share = world.inject_share = 0;
    Simulation simulation(**strategy, values, world, 3);
    REQUIRE(simulation.Run());
    if (!simulation.problems().empty()) FAIL(simulation.problems().front());
    CHECK(simulation.finish_reason() == "budget");
    CHECK(simulation.snapshot().usage.tokens <= values.max_tokens);
    CHECK(simulation.snapshot().usage.tokens >= values.max_tokens - 2'000);
  }
}

TEST_CASE("with a kind world islands grow apart, and new ones begin", "[unit]") {
  auto strategy = MakeStrategy("evolve");
  SearchValues values;
  values.strategy = "evolve";
  values.rounds = 16;
  values.ideas = values.implementations = 2;
  values.repairs = 0;
  values.round_deadline_seconds = 1000;
  World world;
  world.late_share = world.lost_share = world.dry_share = world.inject_share = world.limited_share = 0;
  Simulation simulation(**strategy, values, world, 5);
  REQUIRE(simulation.Run());
  if (!simulation.problems().empty()) FAIL(simulation.problems().front());
  std::map<int, int> ideas;
  int migrated = 0;
  std::map<std::string, int> island;
  for (const IdeaView& idea : simulation.snapshot().ideas) {
    ++ideas[idea.island];
    island[idea.id] = idea.island;
  }
  for (const CandidateView& c : simulation.snapshot().candidates) {
    for (const IdeaView& idea : simulation.snapshot().ideas) {
      migrated += idea.parent_id == c.id && idea.island != island[c.idea_id];
    }
  }
  CHECK(simulation.snapshot().ideas.size() == 16 * 3 * 2);
  CHECK(ideas[1] >= 6);
  CHECK(ideas[2] >= 6);
  CHECK(ideas[3] >= 6);
  CHECK(migrated > 10);
  CHECK(ideas.rbegin()->first > 3);  // a place began again
}

}  // namespace warpsmith::search
