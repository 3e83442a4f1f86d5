// Whose round is next: the order of first rounds, gains, the share of problems without a kernel, and when one stops.
#include "coordinator/search/batch_allocation.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>

namespace warpsmith::search {
namespace {

ProblemView Waiting(const std::string& id, std::vector<double> best, int reserve_rounds = 0) {
  ProblemView problem;
  problem.id = id;
  problem.state = ProblemState::kWaiting;
  problem.rounds_granted = static_cast<int>(best.size());
  problem.reserve_rounds = reserve_rounds;
  problem.best = std::move(best);
  return problem;
}

ProblemView In(const std::string& id, ProblemState state, int rounds = 0) {
  ProblemView problem;
  problem.id = id;
  problem.state = state;
  problem.rounds_granted = rounds;
  return problem;
}

using Ids = std::vector<std::string>;

TEST_CASE("every problem gets its first round before any gets a second, in order", "[unit]") {
  BatchView batch;
  batch.places = 3;
  batch.problems = {Waiting("a", {0.1}), In("b", ProblemState::kNew), In("c", ProblemState::kActive, 1),
                    In("d", ProblemState::kNew)};
  CHECK(Allocate(batch).begin == Ids{"b", "d", "a"});
  batch.places = 1;
  CHECK(Allocate(batch).begin == Ids{"b"});
  batch.places = 0;
  CHECK(Allocate(batch).begin.empty());
}

TEST_CASE("a place goes to the problem that gains most, by its own measure", "[unit]") {
  const AllocationRules rules;
  const ProblemView gaining = Waiting("gaining", {1.0, 0.8, 0.5, 0.3});
  const ProblemView flat = Waiting("flat", {0.3, 0.3, 0.3, 0.2999});
  CHECK(ExpectedGain(gaining, rules) > ExpectedGain(flat, rules));
  // alpha (L[n-1-w] - L[n-1]) / w + (1 - alpha) L[n-1] / n, over L[n-1].
  CHECK(ExpectedGain(gaining, rules) == Approx((0.2 * (1.0 - 0.3) / 3 + 0.8 * 0.3 / 4) / 0.3));
  BatchView batch;
  batch.places = 1;
  batch.problems = {flat, gaining};
  CHECK(Allocate(batch).begin == Ids{"gaining"});
  // Of two that stand still, the one that was tried less.
  batch.problems = {Waiting("tried", {0.5, 0.5}), Waiting("fresh", {0.5})};
  batch.problems[0].best.push_back(0.49);
  CHECK(Allocate(batch).begin == Ids{"fresh"});
}

TEST_CASE("scaling all times of a problem changes nothing once it has a window of rounds", "[unit]") {
  const AllocationRules rules;
  for (const double scale : {0.01, 1.0, 100.0}) {
    CHECK(ExpectedGain(Waiting("x", {4 * scale, 3 * scale, 2 * scale, 1 * scale}), rules) ==
          Approx((0.2 * 3.0 / 3 + 0.8 / 4)));
  }
}

TEST_CASE("problems without a kernel get their share of the rounds, up to a number each", "[unit]") {
  // A batch played to the end: ten problems gain forever, ten never have a kernel.
  std::map<std::string, std::pair<int, int>> rounds;  // granted, of these in reserve
  const auto play = [&](bool limited) {
    BatchView batch;
    batch.places = 1;
    batch.limited = limited;
    for (int i = 0; i < 20; ++i) {
      const std::string id = std::to_string(i);
      auto [granted, reserve] = rounds[id];
      if (granted == 0) {
        batch.problems.push_back(In(id, ProblemState::kNew));
        continue;
      }
      std::vector<double> best(static_cast<size_t>(granted), 0);
      for (int round = 0; i < 10 && round < granted; ++round) best[static_cast<size_t>(round)] = std::pow(0.9, round);
      batch.problems.push_back(Waiting(id, best, reserve));
      batch.problems.back().stop_at_share = 0;
    }
    return Allocate(batch);
  };
  int later = 0, in_reserve = 0;
  for (int i = 0; i < 20 + 100; ++i) {
    const Allocation allocation = play(false);
    REQUIRE(allocation.begin.size() == 1);
    auto& [granted, reserve] = rounds[allocation.begin[0]];
    if (++granted == 1) continue;
    ++later;
    if (std::stoi(allocation.begin[0]) >= 10) {
      ++reserve;
      ++in_reserve;
    }
  }
  CHECK(later == 100);
  CHECK(in_reserve >= 13);
  CHECK(in_reserve <= 16);
  for (int i = 10; i < 20; ++i) CHECK(rounds[std::to_string(i)].second <= 3);
  // Once each had its three, they get nothing more while others gain, and are given up where money is short.
  for (int i = 10; i < 20; ++i) rounds[std::to_string(i)] = {4, 3};
  CHECK(std::stoi(play(false).begin.at(0)) < 10);
  CHECK(play(false).stop.empty());
  CHECK(play(true).stop.size() == 10);
  CHECK(play(true).stop.at(0).reason == "no_kernel");
}

TEST_CASE("a problem without a kernel goes on where nobody else waits", "[unit]") {
  BatchView batch;
  batch.places = 2;
  batch.problems = {Waiting("hopeless", {0, 0, 0, 0, 0}, 4), In("busy", ProblemState::kActive, 2)};
  CHECK(Allocate(batch).begin == Ids{"hopeless"});
}

TEST_CASE("a problem stops at the roofline, and where it gains no more", "[unit]") {
  BatchView batch;
  batch.places = 5;
  ProblemView roofed = Waiting("roofed", {0.5});
  roofed.roofline_share = roofed.floor_share = 0.96;
  // Counters say that memory is busy, but with traffic that the algorithm does not need.
  ProblemView wasteful = Waiting("wasteful", {0.5});
  wasteful.roofline_share = 0.99;
  wasteful.floor_share = 0.4;
  ProblemView unknown = Waiting("unknown", {0.5});
  unknown.roofline_share = 0.99;
  ProblemView unwilling = roofed;
  unwilling.id = "unwilling";
  unwilling.stop_at_share = 0;
  batch.problems = {roofed,
                    wasteful,
                    unknown,
                    unwilling,
                    Waiting("flat", {0.500, 0.500, 0.498, 0.497}),
                    Waiting("late", {0, 0, 0, 0.5}),
                    Waiting("short", {0.5, 0.5, 0.5})};
  Allocation allocation = Allocate(batch);
  CHECK(allocation.stop == std::vector<StoppedProblem>{{"roofed", "roofline"}, {"flat", "no_gain"}});
  CHECK(allocation.begin.size() == 5);
  // A search's own number of rounds counts before the rules'.
  batch.problems[6].stop_after_rounds_without_gain = 2;
  allocation = Allocate(batch);
  CHECK(allocation.stop.back() == StoppedProblem{"short", "no_gain"});
}

TEST_CASE("a spent budget stops what waits and what is new, and leaves what runs", "[unit]") {
  BatchView batch;
  batch.places = 9;
  batch.limited = batch.spent = true;
  batch.problems = {In("new", ProblemState::kNew), In("active", ProblemState::kActive, 1), Waiting("waiting", {0.5}),
                    In("ended", ProblemState::kEnded, 3)};
  const Allocation allocation = Allocate(batch);
  CHECK(allocation.begin.empty());
  CHECK(allocation.stop == std::vector<StoppedProblem>{{"new", "budget"}, {"waiting", "budget"}});
}

TEST_CASE("any batch: nothing twice, nothing stopped that begins, no more than there are places", "[unit]") {
  std::mt19937 random(7);
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  for (int run = 0; run < 2000; ++run) {
    BatchView batch;
    batch.places = draw(6);
    batch.spent = draw(8) == 0;
    batch.limited = batch.spent || draw(2) == 0;
    for (int i = draw(12); i > 0; --i) {
      const std::string id = std::to_string(i);
      ProblemView problem = In(id, static_cast<ProblemState>(draw(4)), draw(5));
      if (problem.state == ProblemState::kWaiting) {
        std::vector<double> best;
        for (int round = 1 + draw(6); round > 0; --round) best.push_back(draw(3) == 0 ? 0 : 0.1 * draw(20));
        problem = Waiting(id, best, draw(4));
        problem.floor_share = problem.roofline_share = 0.1 * draw(11);
      }
      batch.problems.push_back(problem);
    }
    const Allocation allocation = Allocate(batch);
    std::map<std::string, int> seen;
    for (const std::string& id : allocation.begin) ++seen[id];
    for (const StoppedProblem& stopped : allocation.stop) ++seen[stopped.id];
    for (const auto& [id, times] : seen) CHECK(times == 1);
    CHECK(static_cast<int>(allocation.begin.size()) <= batch.places);
    int could = 0;
    for (const ProblemView& problem : batch.problems) {
      const bool open = problem.state == ProblemState::kNew || problem.state == ProblemState::kWaiting;
      if (seen.count(problem.id) != 0) CHECK(open);
      could += open ? 1 : 0;
    }
    // No place stays empty while a problem could use it.
    could -= static_cast<int>(allocation.stop.size());
    CHECK(static_cast<int>(allocation.begin.size()) == std::min(batch.places, could));
  }
}

TEST_CASE("of a strategy's actions only ideas for a later round are kept back", "[unit]") {
  const std::vector<Action> actions = {Evaluate{"c", "measure"},     Propose{"p", 3, 2}, CloseRound{1},
                                       Implement{"i", 2, {0, 1}, 2}, Propose{"q", 3, 1}, Finish{"rounds"}};
  CHECK(WithinRounds(actions, 2) == actions);
  const std::vector<Action> kept = WithinRounds(actions, 1);
  REQUIRE(kept.size() == 5);
  CHECK(std::holds_alternative<CloseRound>(kept[1]));
}

}  // namespace
}  // namespace warpsmith::search
