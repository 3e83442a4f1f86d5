// What models are told of other searches on the same problem: through a real coordinator and PostgreSQL.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "coordinator/engine/problem_history.h"
#include "tests/coordinator/cluster_fixture.h"

namespace warpsmith::testing {
namespace {

// Kernels of the idea's first implementation are correct and faster each search; the second fails.
std::string OneGoodOneBad(const v1::ImplementIdeaRequest& request, int index) {
  return KernelText(request.idea().id() + "/" + std::to_string(index), 0.5, index == 0 ? "ok" : "wrong_output");
}

TEST_CASE("a search is told what others tried on its problem, the newest last and before its own", "[pg][models]") {
  Cluster cluster;
  cluster.gateway.write_kernel = OneGoodOneBad;
  auto worker = cluster.Worker("w1");
  std::map<std::string, std::string> search_of;  // by title
  std::vector<std::string> searches;
  for (int i = 0; i < 3; ++i) {
    auto request = SmallSearch(1);
    request.mutable_settings()->set_seed(i);
    searches.push_back(cluster.Submit(request).value());
    REQUIRE(cluster.Finished(searches.back()).state() == v1::SEARCH_STATE_DONE);
  }
  const auto proposals = cluster.gateway.proposals();
  REQUIRE(proposals.size() == 3);
  CHECK(proposals[0].tried().empty());
  REQUIRE(proposals[1].tried_size() == 2);
  REQUIRE(proposals[2].tried_size() == 4);
  CHECK(proposals[2].tried_left_out() == 0);
  std::vector<std::string> titles;
  for (int i = 0; i < 2; ++i) {
    const v1::Tree tree = cluster.Tree(searches[static_cast<size_t>(i)]).value();
    for (const v1::IdeaNode& node : tree.ideas()) titles.push_back(node.idea().title());
  }
  for (int i = 0; i < 4; ++i) {
    const v1::TriedIdea& tried = proposals[2].tried(i);
    INFO(i << ": " << tried.ShortDebugString());
    CHECK(tried.idea().title() == titles[static_cast<size_t>(i)]);
    CHECK(tried.earlier_search());
    CHECK(tried.outcome() == "ok");
    CHECK(tried.best_ms() == Approx(0.5));
    CHECK(tried.ratio_to_parent() > 0);
    CHECK(tried.why().rfind("wrong_output: ", 0) == 0);
    CHECK(tried.idea().plan().empty());
  }

  // Another problem's search hears nothing of them, and independent attempts of none.
  auto other = SmallSearch(1);
  other.set_source(other.source() + "# another\n");
  REQUIRE(cluster.Finished(cluster.Submit(other).value()).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.gateway.proposals().back().tried().empty());
  auto attempts = SmallSearch(1);
  attempts.mutable_settings()->set_strategy("best_of_n");
  REQUIRE(cluster.Finished(cluster.Submit(attempts).value()).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.gateway.proposals().back().tried().empty());
}

TEST_CASE("an earlier search's failures are told, and its catalog ideas stay the catalog's to give", "[pg][models]") {
  Cluster cluster;
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest& request, int index) {
    return KernelText(request.idea().id() + "/" + std::to_string(index), 0.5, "wrong_output");
  };
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(1);
  request.mutable_settings()->set_implementations(3);
  REQUIRE(cluster.Finished(cluster.Submit(request).value()).state() == v1::SEARCH_STATE_DONE);
  request.mutable_settings()->set_seed(9);
  REQUIRE(cluster.Finished(cluster.Submit(request).value()).state() == v1::SEARCH_STATE_DONE);
  const v1::ProposeIdeasRequest last = cluster.gateway.proposals().back();
  REQUIRE(last.tried_size() == 2);
  for (const v1::TriedIdea& tried : last.tried()) {
    CHECK(tried.outcome() == "wrong_output");
    CHECK(tried.best_ms() == 0);
    CHECK(tried.idea().catalog_key().empty());
  }
}

}  // namespace
}  // namespace warpsmith::testing
