#include "coordinator/search/best_of_n.h"

#include <catch2/catch.hpp>

#include "tests/coordinator/search/snapshot_makers.h"

namespace warpsmith::search {
namespace {

Snapshot FreshBestOfN() {
  Snapshot s;
  s.values.strategy = "best_of_n";
  s.values.parents = 1;
  s.values.ideas = 2;
  s.values.implementations = 3;  // seven calls a round: three attempts
  s.values.repairs = 1;
  return s;
}

}  // namespace

TEST_CASE("independent attempts at the module, all at once", "[unit]") {
  Snapshot s = FreshBestOfN();
  CHECK(Next(s) == std::vector<Action>(3, Propose{"", 1, 1}));
  // A good kernel changes nothing.
  s.round = 2;
  s.ideas = {MakeIdea("i", 1, "", 1)};
  s.candidates = {Correct("c", "i", 1, 2.0)};
  CHECK(Next(s) == std::vector<Action>(3, Propose{"", 1, 2}));
  // Each idea is implemented once, and repaired.
  s = FreshBestOfN();
  s.tasks = {Proposed("", 1, 1, TaskState::kDone), Proposed("", 1, 1, TaskState::kOpen),
             Proposed("", 1, 1, TaskState::kOpen)};
  s.ideas = {MakeIdea("i", 1)};
  CHECK(Next(s) == std::vector<Action>{Implement{"i", 1, {0}, 1}});
  s.ideas[0].requested = 1;
  s.candidates = {Correct("c", "i", 1, 0)};
  s.candidates[0].outcome = v1::OUTCOME_TIMEOUT;
  CHECK(Next(s) == std::vector<Action>{Repair{"c", 1}});
}

TEST_CASE("attempts for which there was no room follow, and one without an idea is an attempt too", "[unit]") {
  Snapshot s = FreshBestOfN();
  CHECK(Next(s, {.model_calls = 2}) == std::vector<Action>(2, Propose{"", 1, 1}));
  s.tasks = {Proposed("", 1, 1, TaskState::kDone), Proposed("", 1, 1, TaskState::kOpen)};
  CHECK(Next(s).empty());
  s.tasks[1].state = TaskState::kFailed;
  CHECK(Next(s) == std::vector<Action>{Propose{"", 1, 1}});
  s.tasks.push_back(Proposed("", 1, 1, TaskState::kDone));
  CHECK(Next(s) == std::vector<Action>{CloseRound{1}});
}

TEST_CASE("a catalog that has no more ends it", "[unit]") {
  Snapshot s = FreshBestOfN();
  s.tasks = {Proposed("", 1, 1, TaskState::kDone)};
  s.exhausted_parents = {""};
  CHECK(Next(s) == std::vector<Action>{CloseRound{1}});
  s.round = 2;
  CHECK(Next(s) == std::vector<Action>{Finish{"ideas_exhausted"}});
}

}  // namespace warpsmith::search
