// The strategies through a real coordinator: what models are told, who is whose parent, how a search ends.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "coordinator/search/decision.h"
#include "tests/coordinator/cluster_fixture.h"

namespace warpsmith::testing {
namespace {

v1::SubmitSearchRequest StrategySearch(const std::string& strategy, int rounds, int parents) {
  v1::SubmitSearchRequest request = SmallSearch(rounds);
  request.mutable_settings()->set_strategy(strategy);
  request.mutable_settings()->set_parents(parents);
  return request;
}

// The decisions of the only search with the strategy, in order; each must be readable.
std::vector<search::Action> Decisions(Cluster& cluster, const std::string& strategy) {
  std::vector<search::Action> actions;
  const std::string of = fmt::format("FROM decision WHERE strategy = '{}'", strategy);
  const int count = std::stoi(cluster.Query("SELECT count(*) " + of));
  for (int seq = 0; seq < count; ++seq) {
    const auto read = search::ActionsFromJson(cluster.Query(fmt::format("SELECT actions {} AND seq = {}", of, seq)));
    REQUIRE(read.ok());
    actions.insert(actions.end(), read->begin(), read->end());
  }
  return actions;
}

}  // namespace

TEST_CASE("best_of_n: attempts that know nothing of each other", "[pg][search]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  // Ten calls a round: five attempts.
  const v1::Search search = cluster.Finished(cluster.Submit(StrategySearch("best_of_n", 2, 2)).value());
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.finish_reason() == "rounds");
  CHECK(search.usage().model_calls() == 2 * 10);
  CHECK(search.best_ms() == Approx(1.0));  // 2/2: the second round's
  const auto proposals = cluster.gateway.proposals();
  REQUIRE(proposals.size() == 10);
  for (const v1::ProposeIdeasRequest& request : proposals) {
    CHECK(request.tried().empty());
    CHECK(!request.has_parent());
    CHECK(request.count() == 1);
  }
  for (const v1::ImplementIdeaRequest& request : cluster.gateway.implementations()) {
    CHECK(request.count() == 1);
    CHECK(!request.has_parent());
    CHECK(request.earlier_turns().empty());
  }
  // None waits for another one's ideas.
  CHECK(cluster.Query("SELECT count(DISTINCT stage) FROM task WHERE kind = 'propose'") == "10");
  CHECK(cluster.Bookkeeping() == "");
  CHECK(!Decisions(cluster, "best_of_n").empty());
}

TEST_CASE("best_of_n with the catalog goes through its list", "[pg][search]") {
  Cluster cluster;
  v1::ModelDescription catalog;
  catalog.set_name("catalog");
  catalog.set_provider("catalog");
  catalog.set_enabled(true);
  cluster.gateway.models = {catalog};
  cluster.gateway.catalog_ideas = 1;
  auto worker = cluster.Worker("w1");
  v1::SubmitSearchRequest request = StrategySearch("best_of_n", 1, 2);
  request.mutable_settings()->add_models("catalog");
  const v1::Search search = cluster.Finished(cluster.Submit(request).value());
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  // Each call was told what those before it had been given, though all were asked for at once.
  std::set<int> told;
  for (const v1::ProposeIdeasRequest& proposal : cluster.gateway.proposals()) told.insert(proposal.tried_size());
  CHECK(told == std::set<int>{0, 1, 2, 3, 4});
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("evolve: islands of their own, and what migrates between them", "[pg][search]") {
  Cluster cluster;
  // Island 1 finds fast kernels, island 2 slow ones; both get faster.
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest& request, int index) {
    const double ms = (request.idea().island() == 1 ? 1.0 : 4.0) / (request.call().round() + 0.1 * index);
    return KernelText(request.idea().id() + "/" + std::to_string(index), ms);
  };
  auto worker = cluster.Worker("w1");
  v1::SubmitSearchRequest request = StrategySearch("evolve", 3, 2);
  request.mutable_settings()->set_islands(2);
  request.mutable_settings()->set_migration_rounds(2);
  const std::string id = cluster.Submit(request).value();
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.best_ms() == Approx(1.0 / 3.1));
  CHECK(cluster.Bookkeeping() == "");

  std::map<std::string, int> island_of;                  // by kernel
  std::map<std::pair<int, int>, std::set<int>> parents;  // by island and round: islands that its parents came from
  const v1::Tree tree = cluster.Tree(id).value();
  REQUIRE(tree.ideas_size() == 3 * 4);
  for (const v1::IdeaNode& node : tree.ideas()) {
    for (const v1::Candidate& candidate : node.candidates()) island_of[candidate.id()] = node.idea().island();
  }
  for (const v1::IdeaNode& node : tree.ideas()) {
    CHECK((node.idea().island() == 1 || node.idea().island() == 2));
    parents[{node.idea().island(), node.round()}].insert(node.parent_id().empty() ? 0 : island_of[node.parent_id()]);
  }
  const std::map<std::pair<int, int>, std::set<int>> expected = {{{1, 1}, {0}}, {{1, 2}, {1}}, {{1, 3}, {2}},
                                                                 {{2, 1}, {0}}, {{2, 2}, {2}}, {{2, 3}, {1}}};
  CHECK(parents == expected);

  // Each island's calls are told its own ideas, and those for the same kernel.
  const auto proposals = cluster.gateway.proposals();
  REQUIRE(proposals.size() == 6);

  for (const v1::ProposeIdeasRequest& proposal : proposals) {
    std::set<int> islands;
    for (const v1::TriedIdea& tried : proposal.tried()) {
      if (tried.parent_candidate_id() != proposal.parent().candidate_id() || !proposal.has_parent()) {
        islands.insert(tried.idea().island());
      }
    }
    CHECK(islands.size() <= 1);
    if (proposal.call().round() == 1) CHECK(proposal.tried().empty());
    if (proposal.call().round() == 2) CHECK(proposal.tried_size() == 2);
    if (proposal.call().round() == 2) CHECK(islands == std::set<int>{island_of[proposal.parent().candidate_id()]});
    if (proposal.call().round() == 3) CHECK(islands == std::set<int>{3 - island_of[proposal.parent().candidate_id()]});
  }
  int with_island = 0;
  for (const search::Action& action : Decisions(cluster, "evolve")) {
    if (const auto* propose = std::get_if<search::Propose>(&action)) with_island += propose->island > 0;
  }
  CHECK(with_island == 6);
}

TEST_CASE("sequential: every turn is told what became of those before", "[pg][search]") {
  Cluster cluster;
  std::atomic<int> turn{0};
  cluster.gateway.write_kernel = [&turn](const v1::ImplementIdeaRequest& request, int) {
    const int now = ++turn;
    if (now == 3) return std::string();
    return KernelText(request.idea().id(), 2.0 / now, now == 1 ? "wrong_output" : "ok");
  };
  auto worker = cluster.Worker("w1");
  v1::SubmitSearchRequest request = StrategySearch("sequential", 1, 2);  // ten calls: five turns
  request.mutable_settings()->set_repairs(1);
  const v1::Search search = cluster.Finished(cluster.Submit(request).value());
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.best_ms() == Approx(0.4));
  CHECK(search.usage().model_calls() == 10 + 1);
  CHECK(cluster.Bookkeeping() == "");

  const auto turns = cluster.gateway.implementations();
  REQUIRE(turns.size() == 5);
  CHECK(turns[0].earlier_turns().empty());
  // The first kernel was wrong and repaired: two turns for the second one, whose parent is the repair.
  REQUIRE(turns[1].earlier_turns_size() == 2);
  const v1::EarlierTurn& wrong = turns[1].earlier_turns(0);
  CHECK(wrong.evaluation().outcome() == v1::OUTCOME_WRONG_OUTPUT);
  CHECK(wrong.evaluation().message() == "output[0] is 1, expected 2");
  CHECK_THAT(wrong.source(), Catch::Contains("wrong_output"));
  CHECK_THAT(wrong.idea_title(), Catch::Contains("of round 1"));
  const v1::EarlierTurn& repaired = turns[1].earlier_turns(1);
  CHECK(repaired.evaluation().outcome() == v1::OUTCOME_OK);
  CHECK(repaired.evaluation().timing().median_ms() > 0);
  CHECK(repaired.evaluation().timing().emulated());
  CHECK_THAT(repaired.idea_title(), Catch::Contains("repair 1"));
  CHECK(repaired.source().empty());  // the parent's stands in the request already
  CHECK_THAT(turns[1].parent().source(), Catch::Contains("ms="));
  // All of them, newest last; a reply without code is one too; the sources of the last two.
  REQUIRE(turns[4].earlier_turns_size() == 5);
  CHECK(turns[4].earlier_turns(0).source().empty());
  CHECK(turns[4].earlier_turns(3).evaluation().reason() == "no_code");
  CHECK(turns[4].earlier_turns(4).evaluation().timing().median_ms() == Approx(0.5));
  // Ideas are asked for with the same knowledge.
  CHECK(cluster.gateway.proposals().back().tried_size() == 4);
  // The repair knows the turns before; its own candidate's source is not repeated.
  const auto repairs = cluster.gateway.repairs();
  REQUIRE(repairs.size() == 1);
  REQUIRE(repairs[0].earlier_turns_size() == 1);
  CHECK(repairs[0].earlier_turns(0).source().empty());
}

TEST_CASE("a search on a GPU ends at the roofline, once a second measurement says so", "[pg][search]") {
  Cluster cluster;
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest& request, int index) {
    return KernelText(request.idea().id() + "/" + std::to_string(index), index == 0 ? 0.5 : 0.6) +
           (index == 0 ? "// roofline=0.96\n" : "// roofline=0.8\n");
  };
  v1::SubmitSearchRequest request = StrategySearch("branching", 4, 1);
  const bool gpu = GENERATE(true, false);
  ScriptedWorker worker(cluster.address(), "w1", "boot1", 4, false, !gpu);
  const v1::Search search = cluster.Finished(cluster.Submit(request).value());
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.finish_reason() == (gpu ? "roofline" : "rounds"));
  CHECK(search.best_ms() == Approx(0.5));
  if (gpu) {
    CHECK(cluster.Query("SELECT max(round) FROM task WHERE kind = 'propose'") == "1");
    CHECK(cluster.Query("SELECT count(*) FROM evaluation e JOIN search s ON s.best_candidate_id = e.candidate_id WHERE "
                        "e.stage = 'confirm'") == "1");
  }
}

}  // namespace warpsmith::testing
