#include "coordinator/metrics/committed_counts.h"

#include <catch2/catch.hpp>

#include "coordinator/store/sql_library.h"

namespace warpsmith::metrics {
namespace {

store::ResultSet Rows(std::vector<std::string> columns, std::vector<std::vector<std::optional<std::string>>> rows) {
  store::ResultSet set;
  set.columns = std::move(columns);
  set.rows = std::move(rows);
  return set;
}

TEST_CASE("what the statements return is counted", "[unit]") {
  CommittedCounts counts;
  counts.Add("task_claim_chosen", Rows({"id", "kind", "waited"}, {{"1", "evaluate", "0.25"}, {"2", "evaluate", {}}}));
  counts.Add(
      "task_complete",
      Rows({"kind", "result"}, {{"evaluate", ""}, {"propose", ""}, {"repair", "truncated"}, {"implement", "budget"}}));
  counts.Add("task_fail", Rows({"kind"}, {{"evaluate"}}));
  counts.Add("task_fail", Rows({"kind"}, {{"repair"}}));
  counts.Add("task_rescue", Rows({"died"}, {{"t"}, {"f"}, {"t"}}));
  counts.Add("task_free_boot", Rows({"kind"}, {{"intake"}, {"propose"}}));
  counts.Add("candidate_insert", Rows({"state", "reject_reason"}, {{"rejected", "no_code"}}));
  counts.Add("candidate_insert", Rows({"state", "reject_reason"}, {{"rejected", "exhausted"}}));
  counts.Add("candidate_insert", Rows({"state", "reject_reason"}, {{"queued", ""}}));
  counts.Add("candidates_copy_results", Rows({"outcome", "first_verdict"}, {{"14", "t"}, {"14", "f"}, {"2", "t"}}));
  counts.Add("candidate_reuse_result", Rows({"id", "outcome"}, {{"x", "12"}}));
  counts.Add("candidate_set_given_up", Rows({"id"}, {{"x"}, {"y"}}));
  counts.Add("searches_refresh_best",
             Rows({"emulated", "best_ratio", "improved"}, {{"t", "1.5", "t"}, {"f", "2", "f"}}));
  counts.Add("task_insert", Rows({"id"}, {{"1"}}));
  // A column that is gone counts nothing.
  counts.Add("task_claim", Rows({"id"}, {{"1"}}));

  CHECK(counts.claims == std::map<std::string, int>{{"evaluate", 2}});
  REQUIRE(counts.waits.size() == 1);
  CHECK(counts.waits[0].second == 0.25);
  using Results = std::map<std::pair<std::string, std::string>, int>;
  CHECK(counts.results == Results{{{"propose", "ok"}, 1},
                                  {{"repair", "ok"}, 1},
                                  {{"implement", "budget"}, 1},
                                  {{"evaluate", "infra_error"}, 1},
                                  {{"repair", "failed"}, 1}});
  CHECK(counts.rescues == std::map<std::string, int>{{"lease", 2}, {"deadline", 1}, {"restart", 1}});
  CHECK(counts.candidates ==
        std::map<std::string, int>{
            {"rejected", 1}, {"ok", 1}, {"compile_error", 1}, {"wrong_output", 1}, {"infra_error", 2}});
  REQUIRE(counts.improvements.size() == 1);
  CHECK(counts.improvements[0].ratio == 1.5);
  CHECK(counts.improvements[0].emulated);
}

TEST_CASE("the statements that are counted are there", "[unit]") {
  const auto library = store::SqlLibrary::Load(WARPSMITH_SOURCE_DIR "/coordinator/store/sql");
  REQUIRE(library.ok());
  for (const auto& [name, columns] : CountedStatements()) {
    INFO(name);
    CHECK(library->statements().contains(name));
  }
}

}  // namespace
}  // namespace warpsmith::metrics
