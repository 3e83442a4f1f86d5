#include "coordinator/search/branching.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/coordinator/search/snapshot_makers.h"

namespace warpsmith::search {
namespace {

Snapshot FreshBranching(int parents = 2, int ideas = 2, int implementations = 2) {
  Snapshot s;
  s.search_id = "s";
  s.values.parents = parents;
  s.values.ideas = ideas;
  s.values.implementations = implementations;
  return s;
}

}  // namespace

TEST_CASE("the first round starts from the module", "[unit]") {
  Snapshot s = FreshBranching();
  CHECK(Next(s) == std::vector<Action>{Propose{"", 4, 1}});
  s.tasks = {Proposed("", 1, 4, TaskState::kOpen)};
  CHECK(Next(s).empty());
}

TEST_CASE("ideas are implemented, candidates evaluated, failures repaired", "[unit]") {
  Snapshot s = FreshBranching();
  s.tasks = {Proposed("", 1, 4, TaskState::kDone)};
  s.ideas = {MakeIdea("i1", 1)};
  CHECK(Next(s) == std::vector<Action>{Implement{"i1", 2, {0, 1}, 1}});
  CHECK(Next(s, {.model_calls = 1}) == std::vector<Action>{Implement{"i1", 2, {0}, 1}});
  s.ideas[0].requested = 1;
  CHECK(Next(s) == std::vector<Action>{Implement{"i1", 2, {1}, 1}});
  s.ideas[0].requested = 2;
  s.tasks.push_back({TaskKind::kImplement, "i1", "", 1, 2, TaskState::kOpen});

  CandidateView c = Correct("c1", "i1", 1, 0);
  c.state = CandidateState::kQueued;
  s.candidates = {c};
  CHECK(Next(s) == std::vector<Action>{Evaluate{"c1", "measure"}});
  CHECK(Next(s, {.evaluations = 0}).empty());

  s.candidates[0].state = CandidateState::kDone;
  struct Case {
    v1::Outcome outcome;
    bool repaired;
  };
  const Case cases[] = {
      {v1::OUTCOME_PLAN_ERROR, true},   {v1::OUTCOME_COMPILE_ERROR, true},  {v1::OUTCOME_TIMEOUT, true},
      {v1::OUTCOME_LAUNCH_ERROR, true}, {v1::OUTCOME_ILLEGAL_ACCESS, true}, {v1::OUTCOME_OUT_OF_BOUNDS, true},
      {v1::OUTCOME_WRONG_OUTPUT, true}, {v1::OUTCOME_NON_FINITE, true},     {v1::OUTCOME_UNWRITTEN_OUTPUT, true},
      {v1::OUTCOME_NEEDS_GPU, false},   {v1::OUTCOME_INFRA_ERROR, false},   {v1::OUTCOME_OK, false},
      {v1::OUTCOME_SUSPICIOUS, false},  {v1::OUTCOME_INPUT_MODIFIED, true}, {v1::OUTCOME_OUT_OF_MEMORY, true}};
  for (const Case& test : cases) {
    INFO(v1::Outcome_Name(test.outcome));
    s.candidates[0].outcome = test.outcome;
    CHECK(Next(s) == (test.repaired ? std::vector<Action>{Repair{"c1", 1}} : std::vector<Action>{}));
  }
  s.candidates[0].outcome = v1::OUTCOME_COMPILE_ERROR;
  s.candidates[0].repair_attempt = 2;
  CHECK(Next(s).empty());  // F = 2
  s.candidates[0].repair_attempt = 0;
  s.tasks.push_back({TaskKind::kRepair, "c1", "", 1, 1, TaskState::kOpen});
  CHECK(Next(s).empty());
}

TEST_CASE("a round closes when its share is settled, at its deadline, and never empty-handed while work is open",
          "[unit]") {
  Snapshot s = FreshBranching(1, 5, 4);  // 20 jobs: 18 close it
  s.tasks = {Proposed("", 1, 5, TaskState::kDone)};
  for (int i = 0; i < 5; ++i) {
    const std::string id = "i" + std::to_string(i);
    s.ideas.push_back(MakeIdea(id, 1, "", 4));
    s.tasks.push_back({TaskKind::kImplement, id, "", 1, 4, i < 4 ? TaskState::kDone : TaskState::kOpen});
    for (int k = 0; k < 4 && !(i == 4 && k >= 1); ++k) {
      s.candidates.push_back(Correct(id + "k" + std::to_string(k), id, 1, 0.1));
      s.candidates.back().index = k;
    }
  }
  CHECK(Next(s).empty());  // 17
  CHECK(Next(s, {}, 1799 * kSecond).empty());
  CHECK(Next(s, {}, 1800 * kSecond) == std::vector<Action>{CloseRound{1}});
  s.candidates.push_back(Correct("late", "i4", 1, 0.1));
  s.candidates.back().index = 1;
  CHECK(Next(s) == std::vector<Action>{CloseRound{1}});  // 18
  s.values.rounds = 1;                                   // nothing could take up the stragglers of the last round
  CHECK(Next(s).empty());
  Snapshot rest = s;  // nor of those before
  rest.values.rounds = 2;
  rest.round = 2;
  rest.tasks.push_back(Proposed("c", 2, 1, TaskState::kDone));
  CHECK(Next(rest).empty());
  rest.tasks[5].state = TaskState::kDone;
  CHECK(Next(rest) == std::vector<Action>{CloseRound{2}});
  CHECK(Next(s, {}, 1800 * kSecond) == std::vector<Action>{CloseRound{1}});

  Snapshot away = FreshBranching();
  away.tasks = {Proposed("", 1, 4, TaskState::kOpen)};
  CHECK(Next(away, {}, 100000 * kSecond).empty());
  away.tasks[0].state = TaskState::kFailed;
  CHECK(Next(away) == std::vector<Action>{CloseRound{1}});
}

TEST_CASE("parents: best, another lineage, at most two of a lineage, the module for the rest", "[unit]") {
  Snapshot s = FreshBranching(3, 2, 2);
  s.round = 3;
  s.ideas = {MakeIdea("a", 1, "", 2), MakeIdea("b", 1, "", 2), MakeIdea("a2", 2, "ca", 2)};
  s.candidates = {Correct("ca", "a", 1, 1.0), Correct("ca2", "a2", 2, 2.0, "ca"), Correct("ca3", "a2", 2, 1.9, "ca"),
                  Correct("cb", "b", 1, 0.2)};
  std::vector<std::string> parents = Parents(Next(s));
  REQUIRE(parents.size() == 3);
  CHECK(parents[0] == "ca2");
  CHECK(parents[1] == "cb");
  CHECK((parents[2] == "ca3" || parents[2] == "ca"));

  SECTION("one lineage only") {
    s.candidates.pop_back();
    parents = Parents(Next(s));
    REQUIRE(parents.size() == 3);
    CHECK(parents[0] == "ca2");
    CHECK(parents[2].empty());
    CHECK(std::get<Propose>(Next(s).back()).count == 2);
  }
  SECTION("an exhausted parent is passed over") {
    s.exhausted_parents = {"ca2", ""};
    CHECK(Parents(Next(s))[0] == "ca3");
  }
  SECTION("wrong and unbelievable candidates are no parents") {
    for (CandidateView& c : s.candidates) c.outcome = v1::OUTCOME_SUSPICIOUS;
    CHECK(Next(s) == std::vector<Action>{Propose{"", 6, 3}});
  }
  SECTION("what was not fully validated is no parent") {
    s.candidates[1].reason = "screened";
    CHECK(Parents(Next(s))[0] == "ca3");
    for (CandidateView& c : s.candidates) c.reason = "screened";
    CHECK(Next(s) == std::vector<Action>{Propose{"", 6, 3}});
  }
  SECTION("a bank kernel in every second round, once") {
    s.round = 2;
    s.bank_seeds = {{"bank"}};
    parents = Parents(Next(s));
    CHECK(parents == std::vector<std::string>{"ca2", "cb", "bank"});
    s.ideas.push_back(MakeIdea("seeded", 2, "bank", 2));
    CHECK(Parents(Next(s)).back() != "bank");
  }
  SECTION("a candidate whose ratio is no number is never drawn and sorts last") {
    s.candidates[1].log_ratio = std::numeric_limits<double>::quiet_NaN();
    CHECK(Parents(Next(s))[0] == "ca3");
  }
}

TEST_CASE("overlapping intervals tie: the one with fewer ideas goes first", "[unit]") {
  Snapshot s = FreshBranching(1, 1, 1);
  s.round = 2;
  s.ideas = {MakeIdea("a", 1, "", 1), MakeIdea("b", 1, "", 1), MakeIdea("x", 1, "ca", 1)};
  s.candidates = {Correct("ca", "a", 1, 1.00), Correct("cb", "b", 1, 0.99)};
  CHECK(Parents(Next(s)) == std::vector<std::string>{"ca"});
  for (CandidateView& c : s.candidates) c.spread = 0.03;
  CHECK(Parents(Next(s)) == std::vector<std::string>{"cb"});
  CHECK(RankCandidates(s)[0].id == "ca");  // people see the faster one
}

TEST_CASE("the draw lets slower kernels go on, seldom", "[unit]") {
  Snapshot s = FreshBranching(3, 1, 1);
  s.round = 3;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    s.ideas.push_back(MakeIdea("i" + n, 1, "", 1));
    s.candidates.push_back(Correct("c" + n, "i" + n, 1, 1.0 - 0.1 * i));
  }
  std::map<std::string, int> drawn;
  for (uint64_t seed = 0; seed < 2000; ++seed) ++drawn[Parents(Next(s, {}, 0, seed)).at(2)];
  CHECK(drawn["c2"] > 400);
  CHECK(drawn["c4"] > 100);
  CHECK(drawn["c4"] < drawn["c2"]);
  CHECK(drawn["c7"] < 100);
  CHECK(drawn.count("c0") + drawn.count("c1") == 0);  // they have slots of their own
  // Children halve the weight.
  const int before = drawn["c2"];
  s.ideas.push_back(MakeIdea("child", 2, "c2", 1));
  drawn.clear();
  for (uint64_t seed = 0; seed < 2000; ++seed) ++drawn[Parents(Next(s, {}, 0, seed)).at(2)];
  CHECK(drawn["c2"] < before * 3 / 4);
}

TEST_CASE("operators' ideas and kernels go at once and their kernels lead on", "[unit]") {
  Snapshot s = FreshBranching();
  s.tasks = {Proposed("", 1, 4, TaskState::kOpen)};
  s.ideas = {MakeIdea("mine", 1)};
  s.ideas[0].operator_injected = true;
  CandidateView kernel = Correct("kernel", "", 1, 3);
  kernel.state = CandidateState::kQueued;
  s.candidates = {kernel};
  CHECK(Next(s) == std::vector<Action>{Evaluate{"kernel", "measure"}, Implement{"mine", 2, {0, 1}, 1}});
  s.round = 2;
  s.candidates[0].state = CandidateState::kDone;
  s.ideas.clear();
  CHECK(Parents(Next(s))[0] == "kernel");
  s.candidates[0].outcome = v1::OUTCOME_COMPILE_ERROR;
  CHECK(Next(s) == std::vector<Action>{Propose{"", 4, 2}});  // an operator's kernel is not rewritten
}

TEST_CASE("endings", "[unit]") {
  Snapshot s = FreshBranching(1, 1, 1);
  s.values.rounds = 3;
  s.values.confirm = 1;
  s.ideas = {MakeIdea("a", 1, "", 1)};
  s.candidates = {Correct("ca", "a", 1, 1.0)};

  SECTION("rounds, after the winner was measured again") {
    s.round = 4;
    CHECK(Next(s) == std::vector<Action>{Evaluate{"ca", "confirm"}});
    s.tasks = {{TaskKind::kConfirm, "ca", "", 1, 1, TaskState::kOpen}};
    CHECK(Next(s).empty());
    s.tasks[0].state = TaskState::kDone;
    CHECK(Next(s) == std::vector<Action>{Finish{"rounds"}});
  }
  SECTION("no gain") {
    s.values.confirm = 0;
    s.values.stop_after_rounds_without_gain = 1;
    s.round = 2;
    CHECK(Parents(Next(s)).size() == 1);
    s.round = 3;
    CHECK(Next(s) == std::vector<Action>{Finish{"no_gain"}});
    s.ideas.push_back(MakeIdea("b", 2, "ca", 1));
    s.candidates.push_back(Correct("cb", "b", 2, 1.01, "ca"));
    CHECK(Parents(Next(s)).size() == 1);
    s.candidates.back().spread = 0.1;  // within the noise
    CHECK(Next(s) == std::vector<Action>{Finish{"no_gain"}});
  }
  SECTION("ideas exhausted, once late work is in") {
    s.values.confirm = 0;
    s.round = 2;
    s.exhausted_parents = {"", "ca"};
    s.tasks = {{TaskKind::kImplement, "a", "", 1, 1, TaskState::kOpen}};
    CHECK(Next(s).empty());
    CHECK(Next(s, {}, 1800 * kSecond) == std::vector<Action>{Finish{"ideas_exhausted"}});
    s.tasks[0].state = TaskState::kDone;
    CHECK(Next(s) == std::vector<Action>{Finish{"ideas_exhausted"}});
  }
  SECTION("money") {
    s.values.confirm = 0;
    s.values.max_usd = 1;
    s.round = 2;
    s.usage = {.usd = 0.9, .tokens = 1, .gpu_seconds = 0, .model_calls = 9};
    CHECK(Next(s) == std::vector<Action>{Finish{"budget"}});  // 0.1 a call: one more is left, a round needs two
    s.usage.usd = 0.5;
    CHECK(Parents(Next(s)).size() == 1);
  }
  SECTION("money in the middle of a round") {
    s.values.confirm = 0;
    s.values.max_tokens = 100;
    s.usage = {.usd = 0, .tokens = 100, .gpu_seconds = 0, .model_calls = 2};
    s.tasks = {Proposed("", 1, 1, TaskState::kDone)};
    s.ideas = {MakeIdea("never", 1)};
    CHECK(Next(s) == std::vector<Action>{CloseRound{1}});
    s.round = 2;
    CHECK(Next(s) == std::vector<Action>{Finish{"budget"}});
  }
  SECTION("GPU hours") {
    s.values.max_gpu_hours = 1;
    s.usage.gpu_seconds = 3600;
    s.round = 2;
    CHECK(Next(s) == std::vector<Action>{Finish{"budget"}});
  }
}

TEST_CASE("a twin belongs to the lineage of the kernel that it repeats", "[unit]") {
  Snapshot s = FreshBranching(3, 1, 1);
  s.round = 3;
  s.tasks = {Proposed("", 1, 3, TaskState::kDone), Proposed("", 2, 3, TaskState::kDone)};
  for (const char* idea : {"i1", "i2", "i3", "i4"}) s.ideas.push_back(MakeIdea(idea, 1, "", 1));
  s.candidates = {Correct("a", "i1", 1, 0.9), Correct("b", "i2", 1, 0.8), Correct("c", "i3", 1, 0.7),
                  Correct("d", "i4", 1, 0.1)};
  CHECK(Parents(Next(s))[1] == "b");
  s.candidates[1].twin_of = "a";
  const SnapshotIndex index(s);
  CHECK(index.Lineage(s.candidates[1]) == "i1");
  // The best of another lineage is the next one; and no three parents are one program's.
  CHECK(Parents(Next(s))[1] == "c");
  s.candidates[2].twin_of = "a";
  CHECK(Parents(Next(s))[1] == "d");
  // Twins of a kernel of another search are one lineage too; a ring of them ends.
  s.candidates[1].twin_of = s.candidates[2].twin_of = "elsewhere";
  CHECK(SnapshotIndex(s).Lineage(s.candidates[1]) == SnapshotIndex(s).Lineage(s.candidates[2]));
  s.candidates[1].twin_of = "c";
  s.candidates[2].twin_of = "b";
  CHECK(!SnapshotIndex(s).Lineage(s.candidates[1]).empty());
}

TEST_CASE("a refused reservation ends a search with what it has", "[unit]") {
  Snapshot s = FreshBranching();
  s.values.max_usd = 10;
  s.values.confirm = 0;
  s.usage = {1, 1000, 0, 10, true};
  // The means would allow many more calls.
  CHECK(Next(s) == std::vector<Action>{Finish{"budget"}});
  s.tasks = {Proposed("", 1, 4, TaskState::kDone)};
  CHECK(Next(s) == std::vector<Action>{CloseRound{1}});
  s.round = s.values.rounds + 1;
  CHECK(Next(s) == std::vector<Action>{Finish{"budget"}});
}

}  // namespace warpsmith::search
