#include "coordinator/search/sequential.h"

#include <catch2/catch.hpp>

#include "tests/coordinator/search/snapshot_makers.h"

namespace warpsmith::search {

TEST_CASE("one line of work: an idea, an implementation, repairs, the next turn on the best", "[unit]") {
  Snapshot s;
  s.values.strategy = "sequential";
  s.values.parents = 1;
  s.values.ideas = 2;
  s.values.implementations = 3;  // seven calls a round
  s.values.repairs = 1;
  CHECK(Next(s) == std::vector<Action>{Propose{"", 1, 1}});
  s.tasks = {{TaskKind::kPropose, "", "", 1, 1, TaskState::kOpen}};
  CHECK(Next(s).empty());
  s.tasks[0].state = TaskState::kDone;
  IdeaView idea;
  idea.id = "i";
  s.ideas = {idea};
  CHECK(Next(s) == std::vector<Action>{Implement{"i", 1, {0}, 1}});
  s.ideas[0].requested = 1;
  s.tasks.push_back({TaskKind::kImplement, "i", "", 1, 1, TaskState::kDone});
  CandidateView c;
  c.id = "c";
  c.idea_id = "i";
  s.candidates = {c};
  CHECK(Next(s) == std::vector<Action>{Evaluate{"c", "measure"}});
  s.candidates[0].state = CandidateState::kDone;
  s.candidates[0].outcome = v1::OUTCOME_WRONG_OUTPUT;
  CHECK(Next(s) == std::vector<Action>{Repair{"c", 1}});
  s.tasks.push_back({TaskKind::kRepair, "c", "", 1, 1, TaskState::kDone});
  CHECK(Next(s) == std::vector<Action>{Propose{"", 1, 1}});  // the repair gave nothing

  CandidateView repaired = s.candidates[0];
  repaired.id = "c2";
  repaired.repair_of = "c";
  repaired.repair_attempt = 1;
  repaired.outcome = v1::OUTCOME_OK;
  repaired.log_ratio = 0.5;
  s.candidates.push_back(repaired);
  CHECK(Next(s) == std::vector<Action>{Propose{"c2", 1, 1}});

  SECTION("a round has as many calls as one of branching") {
    for (int i = 0; i < 3; ++i) s.tasks.push_back({TaskKind::kPropose, "c2", "c2", 1, 1, TaskState::kDone});
    CHECK(Next(s) == std::vector<Action>{Propose{"c2", 1, 1}});  // five of seven: the repair does not count
    s.tasks.push_back({TaskKind::kImplement, "x", "", 1, 1, TaskState::kDone});
    CHECK(Next(s) == std::vector<Action>{CloseRound{1}});
    s.round = 2;
    CHECK(Next(s) == std::vector<Action>{Propose{"c2", 1, 2}});
  }
  SECTION("no more ideas") {
    s.exhausted_parents = {"c2"};
    CHECK(Next(s) == std::vector<Action>{Propose{"", 1, 1}});
    s.exhausted_parents = {"c2", ""};
    CHECK(Next(s) == std::vector<Action>{CloseRound{1}});
    s.round = 2;
    s.values.confirm = 0;
    CHECK(Next(s) == std::vector<Action>{Finish{"ideas_exhausted"}});
  }
}

}  // namespace warpsmith::search
