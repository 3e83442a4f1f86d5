// What all strategies that work in rounds do alike: stopping at the roofline, waiting for room.
#include "coordinator/search/round_strategy.h"

#include <catch2/catch.hpp>

#include "tests/coordinator/search/snapshot_makers.h"

namespace warpsmith::search {

TEST_CASE("a search ends where the roofline leaves nothing to gain", "[unit]") {
  Snapshot s;
  s.values.strategy = GENERATE("branching", "sequential", "best_of_n", "evolve");
  INFO(s.values.strategy);
  s.values.confirm = 1;
  s.ideas = {MakeIdea("a", 1, "", 1), MakeIdea("b", 1, "", 1)};
  s.candidates = {Correct("ca", "a", 1, 1.0), Correct("cb", "b", 1, 0.9)};
  s.tasks = {Proposed("", 1, 9, TaskState::kDone), {TaskKind::kImplement, "b", "", 1, 1, TaskState::kOpen}};
  s.candidates[0].roofline_share = 0.96;
  s.candidates[1].roofline_share = 0.99;  // of another device: the slower one does not count

  // A second measurement first, and nothing else meanwhile, in the middle of a round as well as between two.
  for (int round : {1, 2}) {
    s.round = round;
    CHECK(Next(s) == std::vector<Action>{Evaluate{"ca", "confirm"}});
    CHECK(Next(s, {.model_calls = 9, .evaluations = 0}).empty());
  }
  s.tasks.push_back({TaskKind::kConfirm, "ca", "", 1, 1, TaskState::kOpen});
  CHECK(Next(s).empty());
  s.tasks.back().state = TaskState::kDone;
  CHECK(Next(s) == std::vector<Action>{Finish{"roofline"}});

  SECTION("the second measurement says otherwise") {
    s.candidates[0].roofline_share = 0.94;
    CHECK(Parents(Next(s)).size() > 0);
    s.candidates[0].roofline_share = 0.96;
    s.candidates[0].outcome = v1::OUTCOME_SUSPICIOUS;  // the next one is the fastest then
    CHECK(Next(s) == std::vector<Action>{Evaluate{"cb", "confirm"}});
  }
  SECTION("never, by the operator's wish") {
    s.values.stop_at_roofline_share = 0;
    CHECK(Parents(Next(s)).size() > 0);
  }
  SECTION("not for what was not fully validated") {
    s.candidates[0].reason = "screened";
    CHECK(Parents(Next(s)).size() > 0);
  }
  SECTION("without confirmations it is believed at once") {
    s.tasks.pop_back();
    s.values.confirm = 0;
    CHECK(Next(s) == std::vector<Action>{Finish{"roofline"}});
  }
  SECTION("without GPU time for a second measurement too") {
    s.tasks.pop_back();
    s.values.max_gpu_hours = 1;
    s.usage.gpu_seconds = 3600;
    CHECK(Next(s) == std::vector<Action>{Finish{"roofline"}});
  }
}

TEST_CASE("confirmations at the end wait for room", "[unit]") {
  Snapshot s;
  s.round = 6;
  s.values.confirm = 2;
  s.ideas = {MakeIdea("a", 1, "", 1)};
  s.candidates = {Correct("ca", "a", 1, 1.0), Correct("cb", "a", 1, 0.9)};
  CHECK(Next(s, {.evaluations = 0}).empty());
  CHECK(Next(s, {.evaluations = 1}) == std::vector<Action>{Evaluate{"ca", "confirm"}});
  CHECK(Next(s) == std::vector<Action>{Evaluate{"ca", "confirm"}, Evaluate{"cb", "confirm"}});
  s.values.max_gpu_hours = 1;
  s.usage.gpu_seconds = 3600;
  CHECK(Next(s, {.evaluations = 0}) == std::vector<Action>{Finish{"rounds"}});
}

}  // namespace warpsmith::search
