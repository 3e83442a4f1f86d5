// What a scrape of a running coordinator shows after a search whose every figure is known, against the database.
#include <atomic>
#include <catch2/catch.hpp>

#include "common/protocol_names.h"
#include "tests/common/metrics/health_check.h"
#include "tests/coordinator/metrics/shown_cluster.h"

namespace warpsmith::testing {
namespace {

using Labels = MetricsPage::Labels;

// Of the figures that are read every few seconds at most, those of the search's end.
void AwaitFreshFigures(ShownCluster& cluster) {
  CHECK(cluster.Shows("warpsmith_searches", {{"state", "done"}}, 1));
  CHECK(cluster.Eventually([&] {
    return cluster.Page().Value("warpsmith_gpu_seconds_total") ==
           cluster.Number("SELECT sum(gpu_seconds) FROM evaluation");
  }));
}

void CheckAgainstTheDatabase(ShownCluster& cluster) {
  const MetricsPage page = cluster.Page();
  for (int outcome = v1::Outcome_MIN; outcome <= v1::Outcome_MAX; ++outcome) {
    if (!v1::Outcome_IsValid(outcome) || outcome == v1::OUTCOME_UNSPECIFIED) continue;
    const std::string name = OutcomeName(static_cast<v1::Outcome>(outcome));
    INFO(name);
    const std::string number = std::to_string(outcome);
    if (outcome == v1::OUTCOME_INFRA_ERROR) {
      CHECK(page.Value("warpsmith_results_total", {{"kind", "evaluate"}, {"outcome", name}}) ==
            cluster.Number("SELECT sum(failures) FROM task WHERE kind = 'evaluate'"));
    } else {
      CHECK(page.Value("warpsmith_results_total", {{"kind", "evaluate"}, {"outcome", name}}) ==
            cluster.Number("SELECT count(*) FROM evaluation WHERE outcome = " + number));
    }
    CHECK(page.Value("warpsmith_candidates_total", {{"outcome", name}}) ==
          cluster.Number("SELECT count(*) FROM candidate WHERE state = 'done' AND outcome = " + number));
  }
  for (const std::string kind : {"intake", "propose", "implement", "repair", "evaluate"}) {
    INFO(kind);
    CHECK(page.Value("warpsmith_claims_total", {{"kind", kind}}) ==
          cluster.Number("SELECT coalesce(sum(attempts), 0) FROM task WHERE kind = '" + kind + "'"));
    CHECK(page.Value("warpsmith_task_wait_seconds_count", {{"kind", kind}}).value_or(0) ==
          cluster.Number("SELECT count(*) FROM task WHERE attempts > 0 AND kind = '" + kind + "'"));
  }
  CHECK(page.Value("warpsmith_spend_usd_total").value() ==
        Approx(cluster.Number("SELECT sum(used_nano_usd) * 1e-9 FROM budget WHERE scope = 'day'")));
  CHECK(page.Sum("warpsmith_gpu_busy_seconds_total") ==
        Approx(cluster.Number("SELECT sum(gpu_seconds) FROM evaluation")));
}

TEST_CASE("three candidates with known outcomes give exactly these counts", "[pg][metrics]") {
  ShownCluster cluster;
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest&, int index) {
    const char* outcomes[] = {"ok", "wrong_output", "compile_error"};
    return KernelText("kernel" + std::to_string(index), 0.8, outcomes[index % 3]);
  };
  auto worker = cluster.Worker("w1");
  v1::SubmitSearchRequest request = SmallSearch(1);
  request.mutable_settings()->set_ideas(1);
  request.mutable_settings()->set_implementations(3);
  const v1::Search search = cluster.Finished(cluster.Submit(request).value());
  REQUIRE(search.state() == v1::SEARCH_STATE_DONE);
  AwaitFreshFigures(cluster);

  const MetricsPage page = cluster.Page();
  CHECK(page.Value("warpsmith_candidates_total", {{"outcome", "ok"}}) == 1);
  CHECK(page.Value("warpsmith_candidates_total", {{"outcome", "wrong_output"}}) == 1);
  CHECK(page.Value("warpsmith_candidates_total", {{"outcome", "compile_error"}}) == 1);
  CHECK(page.Sum("warpsmith_candidates_total") == 3);
  CHECK(page.Value("warpsmith_results_total", {{"kind", "intake"}, {"outcome", "ok"}}) == 1);
  CHECK(page.Value("warpsmith_results_total", {{"kind", "propose"}, {"outcome", "ok"}}) == 1);
  CHECK(page.Value("warpsmith_results_total", {{"kind", "implement"}, {"outcome", "ok"}}) == 1);
  const double evaluations = cluster.Number("SELECT count(*) FROM evaluation");
  CHECK(evaluations >= 3);
  CHECK(page.Value("warpsmith_stage_duration_seconds_count", {{"stage", "compile"}}) == evaluations);
  CHECK(page.Value("warpsmith_stage_duration_seconds_sum", {{"stage", "compile"}}).value() ==
        Approx(0.04 * evaluations));
  CHECK(page.Value("warpsmith_stage_duration_seconds_sum", {{"stage", "wait"}}).value() == Approx(0.3 * evaluations));
  CHECK(page.Value("warpsmith_stage_duration_seconds_sum", {{"stage", "validate"}}).value() ==
        Approx(0.15 * evaluations));
  CHECK(page.Value("warpsmith_stage_duration_seconds_sum", {{"stage", "time"}}).value() == Approx(0.25 * evaluations));
  CHECK_FALSE(page.Value("warpsmith_stage_duration_seconds_count", {{"stage", "profile"}}));

  CHECK(page.Value("warpsmith_improvements_total") == 1);
  CHECK(page.Value("warpsmith_speedup_ratio_count", {{"device", "emulated"}}) == 1);
  CHECK(page.Value("warpsmith_speedup_ratio_sum", {{"device", "emulated"}}).value() == Approx(1.25));
  CHECK_FALSE(page.Value("warpsmith_speedup_ratio_count", {{"device", "gpu"}}));
  CHECK(page.Value("warpsmith_last_improvement_timestamp_seconds").value() ==
        Approx(cluster.Number("SELECT extract(epoch FROM now())")).margin(60));

  CHECK(page.Value("warpsmith_is_leader") == 1);
  CHECK(page.Sum("warpsmith_build_info") == 1);
  CHECK(page.Sum("warpsmith_tasks") == 0);
  CHECK(page.Samples("warpsmith_tasks") == 20);
  CHECK(page.Samples("warpsmith_queue_oldest_age_seconds") == 0);
  CHECK(page.Value("warpsmith_quarantined_tasks") == 0);
  CHECK(page.Value("warpsmith_workers", {{"state", "connected"}}) == 1);
  CHECK(page.Value("warpsmith_gpus", {{"node", "node-of-w1"}, {"state", "idle"}}) == 1);
  CHECK(page.Value("warpsmith_gpu_busy_seconds_total", {{"node", "node-of-w1"}, {"gpu", "0"}}).value() ==
        Approx(0.5 * evaluations));
  CHECK(page.Value("warpsmith_budget_usd", {{"state", "reserved"}}) == 0);
  CHECK(page.Value("warpsmith_budget_usd", {{"state", "spent"}}) == page.Value("warpsmith_spend_usd_total"));
  CHECK_FALSE(page.Value("warpsmith_budget_usd", {{"state", "limit"}}));
  CHECK(page.Value("warpsmith_database_size_bytes").value() > 1e6);
  CHECK(page.Value("warpsmith_database_dead_tuples", {{"table", "task"}}));
  CHECK(page.Value("warpsmith_turn_duration_seconds_count").value() > 0);
  CheckAgainstTheDatabase(cluster);

  // Nothing of it happened: no such metric, or a zero where all labels are known.
  CHECK(page.Value("warpsmith_rescues_total", {{"reason", "lease"}}) == 0);
  CHECK(page.Value("warpsmith_stale_completions_total") == 0);
  CHECK(DifferencesFromDocs(page, "Coordinator",
                            {"warpsmith_queue_oldest_age_seconds", "warpsmith_worker_restarts_total",
                             "warpsmith_database_errors_total", "warpsmith_disk_free_bytes"}) == "");
  CHECK(PromtoolSays(page) == "");
  CHECK(HttpGet(cluster.port(), "/healthz").status == 200);
  const HttpAnswer ready = HttpGet(cluster.port(), "/readyz");
  CHECK(ready.status == 200);
  CHECK(ready.body == "database: ok\nleadership: ok\nworkers: ok\n");
  CHECK(cluster.Eventually([&] { return AskHealth(cluster.address()) == "SERVING"; }));
}

TEST_CASE("copies, failures, repeated results and dead workers are counted as the database has them", "[pg][metrics]") {
  ShownCluster cluster;
  std::atomic<int> calls{0};
  cluster.gateway.write_kernel = [&calls](const v1::ImplementIdeaRequest&, int index) {
    // Two of each code, and a reply without any.
    if (index == 4) return std::string();
    return KernelText("kernel" + std::to_string(calls++ / 8) + "_" + std::to_string(index / 2), 0.5 + index / 2,
                      index / 2 == 1 ? "wrong_output" : "ok");
  };
  auto worker = cluster.Worker("w1");
  worker->infra_errors = 2;
  v1::SubmitSearchRequest request = SmallSearch(2);
  request.mutable_settings()->set_implementations(5);
  request.mutable_settings()->set_repairs(1);
  const std::string id = cluster.Submit(request).value();
  REQUIRE(cluster.Eventually([&] { return cluster.Number("SELECT count(*) FROM evaluation") > 0; }));
  // Killed with work in hand, and back as another process.
  worker->hold = true;
  cluster.Eventually([&] { return cluster.Number("SELECT count(*) FROM task WHERE state = 'running'") > 0; }, 5);
  worker = nullptr;
  worker = cluster.Worker("w1", "boot2");
  worker->duplicates = 3;
  const v1::Search search = cluster.Finished(id);
  REQUIRE(search.state() == v1::SEARCH_STATE_DONE);
  AwaitFreshFigures(cluster);
  CheckAgainstTheDatabase(cluster);

  const MetricsPage page = cluster.Page();
  CHECK(page.Value("warpsmith_candidates_total", {{"outcome", "rejected"}}) ==
        cluster.Number("SELECT count(*) FROM candidate WHERE state = 'rejected' AND reject_reason <> 'exhausted'"));
  CHECK(page.Value("warpsmith_worker_restarts_total", {{"node", "node-of-w1"}, {"reason", "died"}}) == 1);
  CHECK(page.Value("warpsmith_rescues_total", {{"reason", "lease"}}).value() +
            page.Value("warpsmith_rescues_total", {{"reason", "restart"}}).value() ==
        cluster.Number("SELECT coalesce(sum(worker_deaths), 0) FROM task"));
  // A search's best that got better, as its rounds tell it; confirmations and copies are none.
  const double improvements = page.Value("warpsmith_improvements_total").value();
  CHECK(improvements >= 1);
  CHECK(improvements <= cluster.Number("SELECT count(*) FROM candidate WHERE outcome = 14"));
  CHECK(page.Value("warpsmith_speedup_ratio_count", {{"device", "emulated"}}) == improvements);
  CHECK(PromtoolSays(page) == "");
}

}  // namespace
}  // namespace warpsmith::testing
