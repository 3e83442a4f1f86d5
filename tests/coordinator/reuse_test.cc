// What was judged once is not judged again: the same code within a search and across searches, the same cubin.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>

#include "tests/coordinator/cluster_fixture.h"

namespace warpsmith::testing {
namespace {

// A real candidate's form: the scripted worker reads its remark, which is no part of the program.
std::string Kernel(const std::string& name, const std::string& value, const std::string& body,
                   const std::string& remark) {
  return fmt::format(
      "/* warpsmith-plan {{\"version\": 1, \"steps\": [{{\"kernel\": \"{0}\", \"args\": [\"x\", \"output\"]}}]}} "
      "*/\n// {3}\n"
      "__global__ void {0}(const float* x, float* y) {{ float {1} = x[0]; {2} y[0] = {1}; }}\n",
      name, value, body, remark);
}

std::string Evaluated(Cluster& cluster) {
  return cluster.Query("SELECT count(DISTINCT candidate_id) FROM evaluation WHERE stage = 'measure'");
}

v1::SubmitSearchRequest OneIdea(int implementations) {
  auto request = SmallSearch(1);
  request.mutable_settings()->set_ideas(1);
  request.mutable_settings()->set_implementations(implementations);
  return request;
}

TEST_CASE("code under other names is one evaluation", "[pg][reuse]") {
  Cluster cluster;
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest&, int index) {
    return Kernel(index == 2 ? "other" : "k", "v" + std::to_string(index), "", "ms=0.5");
  };
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(OneIdea(4)).value();
  CHECK(cluster.Finished(id).best_ms() == Approx(0.5));
  CHECK(Evaluated(cluster) == "1");
  CHECK(cluster.Query(
            "SELECT count(*) FROM candidate WHERE duplicate_of IS NOT NULL AND outcome = 14 AND NOT reused") == "3");
  const v1::Tree tree = cluster.Tree(id).value();
  int told = 0;
  for (const v1::Candidate& candidate : tree.ideas(0).candidates()) told += !candidate.duplicate_of().empty();
  CHECK(told == 3);
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("a name may be what did not compile: under another one it is tried by itself", "[pg][reuse]") {
  Cluster cluster;
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest&, int index) {
    return Kernel("k", index == 0 ? "bad" : "fine", "", index == 0 ? "outcome=compile_error" : "ms=0.5");
  };
  auto worker = cluster.Worker("w1", "boot1", 4, /*holding=*/true);
  const std::string id = cluster.Submit(OneIdea(3)).value();
  REQUIRE(cluster.Eventually(
      [&] { return cluster.Query("SELECT count(*) FROM candidate WHERE state = 'evaluating'") == "3"; }));
  // All three wait for the first one's verdict.
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE kind = 'evaluate'") == "1");
  worker->hold_evaluations = false;
  const v1::Search search = cluster.Finished(id);
  CHECK(search.best_ms() == Approx(0.5));
  CHECK(Evaluated(cluster) == "2");
  CHECK(cluster.Query("SELECT outcome, duplicate_of IS NOT NULL FROM candidate ORDER BY idx") == "2|f\n14|f\n14|t");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("another search that judges alike lends its verdicts, with the source that was judged", "[pg][reuse]") {
  Cluster cluster;
  std::atomic<int> searches{0};
  cluster.gateway.write_kernel = [&](const v1::ImplementIdeaRequest&, int index) {
    return Kernel("k", fmt::format("v{}", searches.load()), index == 0 ? "" : "y[1] = 0;",
                  index == 0 ? "ms=0.5" : "outcome=compile_error");
  };
  auto worker = cluster.Worker("w1");
  worker->harness_rev = "h1";
  const v1::Search first = cluster.Finished(cluster.Submit(OneIdea(2)).value());
  REQUIRE(first.best_ms() == Approx(0.5));
  CHECK(Evaluated(cluster) == "2");
  searches = 1;

  SECTION("the same problem and settings") {
    const std::string id = cluster.Submit(OneIdea(2)).value();
    const v1::Search second = cluster.Finished(id);
    CHECK(second.best_ms() == Approx(0.5));
    // The one that compiled is taken over; the other one has another name now, and is tried.
    CHECK(Evaluated(cluster) == "3");
    const v1::Candidate best = cluster.Candidate(second.best_candidate_id()).value();
    CHECK(best.duplicate_of() == first.best_candidate_id());
    CHECK_THAT(best.source(), Catch::Contains("v0"));
    CHECK(best.evaluation().outcome() == v1::OUTCOME_OK);
    CHECK(cluster.Query("SELECT count(*) FROM candidate WHERE reused") == "1");
    // It was a candidate like any other, and confirmed for this search.
    CHECK(cluster.Query("SELECT count(*) FROM evaluation WHERE stage = 'confirm' AND candidate_id = '" +
                        second.best_candidate_id() + "'") == "1");
    // One kernel, brought by both.
    CHECK(cluster.Query("SELECT count(*) FROM kernel") == "1");
    CHECK(cluster.Query("SELECT count(*) FROM kernel_provenance") == "2");
  }
  SECTION("another problem") {
    auto request = OneIdea(2);
    request.set_source("class Model: other\n");
    cluster.Finished(cluster.Submit(request).value());
    CHECK(Evaluated(cluster) == "4");
  }
  SECTION("other accepted classes") {
    auto request = OneIdea(2);
    request.mutable_settings()->add_accepted(v1::PRECISION_CLASS_BF16);
    cluster.Finished(cluster.Submit(request).value());
    CHECK(Evaluated(cluster) == "4");
  }
  SECTION("another harness") {
    // The bank would have its kernel measured again by the new one, and a verdict of that search may be lent.
    cluster.Query("TRUNCATE kernel CASCADE");
    worker.reset();
    worker = cluster.Worker("w2");
    worker->harness_rev = "h2";
    cluster.Finished(cluster.Submit(OneIdea(2)).value());
    CHECK(Evaluated(cluster) == "4");
  }
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("texts that compile to one cubin are twins: each has its own result, and one lineage", "[pg][reuse]") {
  Cluster cluster;
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest&, int index) {
    return Kernel("k", "v", fmt::format("y[{}] = 0;", index),
                  fmt::format("ms={} cubin={}", 0.5 + index * 0.1, index < 2 ? "aaaaaaaa" : "bbbbbbbb"));
  };
  auto worker = cluster.Worker("w1", "boot1", 1);
  const v1::Search search = cluster.Finished(cluster.Submit(OneIdea(3)).value());
  CHECK(search.best_ms() == Approx(0.5));
  CHECK(Evaluated(cluster) == "3");
  CHECK(cluster.Query("SELECT count(*) FROM candidate WHERE twin_of IS NOT NULL") == "1");
  CHECK(cluster.Query("SELECT t.idx + c.idx FROM candidate t JOIN candidate c ON c.id = t.twin_of") == "1");
  CHECK(cluster.Query("SELECT count(*) FROM candidate WHERE cubin_sha256 IS NOT NULL") == "3");
}

TEST_CASE("models are shown the bank's kernels of the same family from other problems", "[pg][reuse]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  for (int problem = 0; problem < 5; ++problem) {
    auto request = SmallSearch(1);
    request.set_name("problem" + std::to_string(problem));
    request.set_source("class Model: number " + std::to_string(problem) + "\n");
    REQUIRE(cluster.Finished(cluster.Submit(request).value()).state() == v1::SEARCH_STATE_DONE);
  }
  const auto proposals = cluster.gateway.proposals();
  REQUIRE(proposals.size() == 5);
  for (int problem = 0; problem < 5; ++problem) {
    const auto& patterns = proposals[static_cast<size_t>(problem)].context().patterns();
    CHECK(patterns.size() == std::min(problem, 3));
    for (const v1::BankPattern& pattern : patterns) {
      CHECK(pattern.problem_name() != "problem" + std::to_string(problem));
      CHECK_THAT(pattern.source(), Catch::Contains("ms="));
      CHECK_THAT(pattern.title(), Catch::Contains("idea"));
      CHECK(pattern.category() == "memory_access");
      CHECK(pattern.ratio_to_eager() > 0);
    }
  }
}

}  // namespace
}  // namespace warpsmith::testing
