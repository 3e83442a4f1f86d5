#include "coordinator/search/evolve.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "coordinator/search/islands.h"
#include "tests/coordinator/search/snapshot_makers.h"

namespace warpsmith::search {
namespace {

Snapshot FreshIslands(int islands = 3, int parents = 3) {
  Snapshot s;
  s.search_id = "s";
  s.values.strategy = "evolve";
  s.values.parents = parents;
  s.values.ideas = 2;
  s.values.implementations = 1;
  s.values.islands = islands;
  s.values.migration_rounds = 0;
  s.values.confirm = 0;
  return s;
}

// An idea of an island with one kernel.
void Grow(Snapshot& s, const std::string& name, int island, int round, double log_ratio,
          const std::string& parent = "") {
  s.ideas.push_back(MakeIdea("i-" + name, round, parent, 1, island));
  s.candidates.push_back(Correct(name, "i-" + name, round, log_ratio, parent));
}

std::map<int, std::string> ParentOf(const std::vector<Action>& actions) {
  std::map<int, std::string> parents;
  for (const Action& action : actions) {
    if (const auto* propose = std::get_if<Propose>(&action)) parents[propose->island] = propose->parent_id;
  }
  return parents;
}

}  // namespace

TEST_CASE("every island starts from the module, with its own call", "[unit]") {
  CHECK(Next(FreshIslands()) == std::vector<Action>{Propose{"", 2, 1, 1}, Propose{"", 2, 1, 2}, Propose{"", 2, 1, 3}});
  // Fewer islands than parents: more ideas for one; more islands: they take turns, also over rounds.
  CHECK(Next(FreshIslands(2)) == std::vector<Action>{Propose{"", 4, 1, 1}, Propose{"", 2, 1, 2}});
  Snapshot s = FreshIslands(4);
  CHECK(Next(s) == std::vector<Action>{Propose{"", 2, 1, 1}, Propose{"", 2, 1, 2}, Propose{"", 2, 1, 3}});
  s.round = 2;
  Grow(s, "a", 1, 1, 1.0);
  const std::vector<Action> second = Next(s);
  CHECK(second == std::vector<Action>{Propose{"", 2, 2, 4}, Propose{"a", 2, 2, 1}, Propose{"", 2, 2, 2}});
}

TEST_CASE("an island's parents are its own, the faster and less used ones more often", "[unit]") {
  Snapshot s = FreshIslands(2, 2);
  s.round = 3;
  for (int i = 0; i < 4; ++i) Grow(s, "a" + std::to_string(i), 1, 1, 1.0 - 0.1 * i);
  for (int i = 0; i < 4; ++i) Grow(s, "b" + std::to_string(i), 2, 1, 3.0 - 0.1 * i);
  std::map<std::string, int> drawn;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    for (const auto& [island, parent] : ParentOf(Next(s, {}, 0, seed))) {
      CHECK(parent[0] == (island == 1 ? 'a' : 'b'));
      ++drawn[parent];
    }
  }
  // 12/25, 6/25, 4/25 and 3/25 of 1000.
  CHECK(drawn["a0"] > 420);
  CHECK(drawn["a0"] < 540);
  CHECK(drawn["a1"] > drawn["a2"]);
  CHECK(drawn["a3"] > 60);
  const int before = drawn["a0"];
  s.ideas.push_back(MakeIdea("child", 2, "a0", 1, 1));
  drawn.clear();
  for (uint64_t seed = 0; seed < 1000; ++seed) ++drawn[ParentOf(Next(s, {}, 0, seed)).at(1)];
  CHECK(drawn["a0"] < before * 4 / 5);

  SECTION("not what failed, was screened, is exhausted or repeats another's cubin") {
    s.candidates[0].reason = "screened";
    s.candidates[1].outcome = v1::OUTCOME_WRONG_OUTPUT;
    s.candidates[2].twin_of = "a3";
    for (uint64_t seed = 0; seed < 50; ++seed) CHECK(ParentOf(Next(s, {}, 0, seed)).at(1) == "a3");
    s.exhausted_parents = {"a3"};
    CHECK(ParentOf(Next(s)).at(1).empty());
    // Not even the module: another island's best keeps it busy.
    s.exhausted_parents = {"a3", ""};
    CHECK(ParentOf(Next(s)).at(1) == "b0");
  }
  SECTION("two of one island in a round differ") {
    s.values.parents = 4;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const std::vector<std::string> parents = Parents(Next(s, {}, 0, seed));
      CHECK(std::set<std::string>(parents.begin(), parents.end()).size() == 4);
    }
  }
}

TEST_CASE("the best migrate around the ring, and belong where ideas were asked for them", "[unit]") {
  Snapshot s = FreshIslands(3, 3);
  s.values.migration_rounds = 2;
  Grow(s, "a", 1, 1, 3.0);
  Grow(s, "b", 2, 1, 2.0);
  Grow(s, "c", 3, 1, 1.0);
  for (const char* name : {"a", "b", "c"}) s.ideas.push_back(MakeIdea("later-" + std::string(name), 2, name, 1));
  for (size_t i = 3; i < 6; ++i) s.ideas[i].island = static_cast<int>(i) - 2;
  s.round = 3;
  CHECK(ParentOf(Next(s)) == std::map<int, std::string>{{1, "c"}, {2, "a"}, {3, "b"}});

  // Island 2 had its turn: "a" is one of its own now and may be drawn; nothing migrates between migrations.
  Grow(s, "a2", 2, 3, 2.5, "a");
  s.round = 4;
  std::set<std::string> drawn;
  for (uint64_t seed = 0; seed < 100; ++seed) drawn.insert(ParentOf(Next(s, {}, 0, seed)).at(2));
  CHECK(drawn == std::set<std::string>{"a", "a2", "b"});
  const SnapshotIndex index(s);
  const Islands islands(index);
  CHECK(islands.Best(2)->id == "a");
  CHECK(islands.Best(1)->id == "a");
  CHECK(islands.Children(2, "a") == 1);
  CHECK(islands.LastRound(2) == 3);

  // Island 1 did not get its idea: what was not asked for has not migrated.
  CHECK(!islands.Has(1, s.candidates[2]));
  s.round = 5;
  CHECK(ParentOf(Next(s)).at(1) == "c");
  // What the neighbour's best is already its own does not come again.
  s.ideas.push_back(MakeIdea("again", 4, "a", 1, 2));
  for (uint64_t seed = 0; seed < 20; ++seed) CHECK(ParentOf(Next(s, {}, 0, seed)).at(2) != "c");
  s.values.migration_rounds = 0;
  CHECK(ParentOf(Next(s)).at(1) == "a");
}

TEST_CASE("an island of the slower half that is stuck begins again from a survivor's best", "[unit]") {
  Snapshot s = FreshIslands(4, 4);
  const char* names[] = {"a", "b", "c", "d"};
  for (int i = 0; i < 4; ++i) Grow(s, names[i], i + 1, 1, 4.0 - i);
  for (int round = 2; round <= 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      const std::string name = names[i] + std::to_string(round);
      Grow(s, name, i + 1, round, 4.0 - i - 0.5 * round, names[i]);  // slower than before
    }
  }
  s.round = 3;
  for (const auto& [island, parent] : ParentOf(Next(s))) CHECK(parent[0] == names[island - 1][0]);
  s.round = 4;
  std::set<std::string> founders;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const std::map<int, std::string> parents = ParentOf(Next(s, {}, 0, seed));
    REQUIRE(parents.size() == 4);
    CHECK(parents.count(1) + parents.count(2) + parents.count(7) + parents.count(8) == 4);
    founders.insert({parents.at(7), parents.at(8)});
  }
  CHECK(founders == std::set<std::string>{"a", "b"});

  // The new island knows nothing of the old one's kernels.
  Grow(s, "n", 7, 4, 3.9, "a");
  s.round = 5;
  std::set<std::string> drawn;
  for (uint64_t seed = 0; seed < 100; ++seed) drawn.insert(ParentOf(Next(s, {}, 0, seed)).at(7));
  CHECK(drawn == std::set<std::string>{"a", "n"});
  const SnapshotIndex index(s);
  CHECK(Islands(index).At(2) == 7);
  CHECK(Islands(index).RoundsWithoutGain(7) == 1);  // slower than its founder
  CHECK(Islands(index).RoundsWithoutGain(3) == 2);

  SECTION("one that gains goes on") {
    Grow(s, "d4", 4, 4, 1.5, "d");
    CHECK(ParentOf(Next(s)).count(4) == 1);
  }
  SECTION("no survivor is clearly faster: it goes on") {
    for (CandidateView& c : s.candidates) c.spread = 20;
    CHECK(ParentOf(Next(s)).count(4) == 1);
  }
}

TEST_CASE("operators' ideas and kernels find their island", "[unit]") {
  Snapshot s = FreshIslands(2, 2);
  s.round = 2;
  Grow(s, "a", 1, 1, 1.0);
  Grow(s, "b", 2, 1, 2.0);
  s.ideas.push_back(MakeIdea("mine", 1, "b", 1, 1999999999));
  s.ideas.back().operator_injected = true;
  s.candidates.push_back(Correct("m", "mine", 1, 0.5, "b"));
  s.ideas.push_back(MakeIdea("free", 1, "", 1));
  s.ideas.back().operator_injected = true;
  s.candidates.push_back(Correct("f", "free", 1, 0.4));
  s.candidates.push_back(Correct("kernel", "", 1, 0.3));
  const SnapshotIndex index(s);
  const Islands islands(index);
  CHECK(islands.At(0) == 1);
  CHECK(islands.At(1) == 2);
  CHECK(islands.Has(2, s.candidates[2]));
  CHECK(!islands.Has(1, s.candidates[2]));
  CHECK(islands.Has(1, s.candidates[3]) != islands.Has(2, s.candidates[3]));
  CHECK(islands.Has(1, s.candidates[4]));
  CHECK(islands.Has(2, s.candidates[4]));
}

TEST_CASE("kernels of the bank: the last parent of every second round", "[unit]") {
  Snapshot s = FreshIslands(2, 2);
  s.bank_seeds = {{"bank"}, {"bank2"}};
  Grow(s, "a", 1, 1, 1.0);
  Grow(s, "b", 2, 1, 2.0);
  s.round = 2;
  CHECK(ParentOf(Next(s)) == std::map<int, std::string>{{1, "a"}, {2, "bank"}});
  s.round = 3;
  CHECK(ParentOf(Next(s)) == std::map<int, std::string>{{1, "a"}, {2, "b"}});
  // An island that has nothing else takes another one.
  s.exhausted_parents = {"", "a"};
  s.round = 2;
  CHECK(ParentOf(Next(s)) == std::map<int, std::string>{{1, "bank2"}, {2, "bank"}});
  s.exhausted_parents = {"", "a", "b", "bank", "bank2"};
  CHECK(Next(s) == std::vector<Action>{Finish{"ideas_exhausted"}});
}

}  // namespace warpsmith::search
