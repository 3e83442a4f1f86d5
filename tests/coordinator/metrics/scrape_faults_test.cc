// Scrapes and probes while something is wrong: the database is away, a worker is ill, the coordinator stops or waits.
#include <catch2/catch.hpp>
#include <csignal>
#include <sstream>

#include "common/child_process.h"
#include "common/clock.h"
#include "common/file.h"
#include "tests/common/metrics/health_check.h"
#include "tests/coordinator/metrics/shown_cluster.h"

namespace warpsmith::testing {
namespace {

TEST_CASE("with the database away a scrape answers within a second, and readiness says why not", "[pg][metrics]") {
  ShownCluster cluster;
  auto worker = cluster.Worker("w1");
  REQUIRE(cluster.Finished(cluster.Submit(SmallSearch(1)).value()).state() == v1::SEARCH_STATE_DONE);
  const double claims = cluster.Page().Sum("warpsmith_claims_total");
  REQUIRE(claims > 0);
  PostgresServer::Shared().Crash();
  CHECK(cluster.Eventually([&] { return HttpGet(cluster.port(), "/readyz").status == 503; }));
  const HttpAnswer ready = HttpGet(cluster.port(), "/readyz");
  CHECK_THAT(ready.body, Catch::Contains("database: not ready: ") && Catch::Contains("workers: ok\n"));
  CHECK(ready.seconds < 1);
  CHECK(HttpGet(cluster.port(), "/healthz").status == 200);
  CHECK(cluster.Eventually([&] { return AskHealth(cluster.address()) == "NOT_SERVING"; }));
  for (int i = 0; i < 3; ++i) {
    const HttpAnswer scrape = HttpGet(cluster.port(), "/metrics");
    CHECK(scrape.status == 200);
    CHECK(scrape.seconds < 1);
    const MetricsPage page(scrape.body);
    CHECK(page.Sum("warpsmith_claims_total") == claims);
    CHECK(page.Value("warpsmith_workers", {{"state", "connected"}}) == 1);
  }
  CHECK(cluster.Eventually([&] { return cluster.Page().Sum("warpsmith_database_errors_total") > 0; }));
  PostgresServer::Shared().Resume();
  CHECK(cluster.Eventually([&] { return HttpGet(cluster.port(), "/readyz").status == 200; }));
  CHECK(cluster.Eventually([&] { return AskHealth(cluster.address()) == "SERVING"; }));
  CHECK(cluster.Shows("warpsmith_searches", {{"state", "done"}}, 1));
}

TEST_CASE("a database that hangs holds no scrape up", "[pg][metrics]") {
  ShownCluster cluster;
  REQUIRE(cluster.Page().Value("warpsmith_database_size_bytes"));
  const pid_t server = PostgresServer::Shared().pid();
  // The processes that serve connections are its children.
  const std::string children =
      ReadFile("/proc/" + std::to_string(server) + "/task/" + std::to_string(server) + "/children").value_or("");
  std::vector<pid_t> stopped;
  std::istringstream list(children);
  for (pid_t pid = 0; list >> pid;) stopped.push_back(pid);
  for (const pid_t pid : stopped) kill(pid, SIGSTOP);
  const bool told = Cluster::Eventually([&] { return HttpGet(cluster.port(), "/readyz").status == 503; }, 30);
  const HttpAnswer scrape = HttpGet(cluster.port(), "/metrics");
  const HttpAnswer ready = HttpGet(cluster.port(), "/readyz");
  for (const pid_t pid : stopped) kill(pid, SIGCONT);
  CHECK(told);
  CHECK(scrape.status == 200);
  CHECK(scrape.seconds < 1);
  CHECK_THAT(ready.body, Catch::Contains("has not answered for"));
  CHECK(ready.seconds < 1);
  CHECK(Cluster::Eventually([&] { return HttpGet(cluster.port(), "/readyz").status == 200; }));
}

TEST_CASE("what ails a worker's device is seen, also after it has left", "[pg][metrics]") {
  ShownCluster cluster;
  auto worker = cluster.Worker("w1");
  CHECK(cluster.Shows("warpsmith_gpus", {{"node", "node-of-w1"}, {"state", "idle"}}, 1));
  worker->hold = true;
  cluster.Submit(SmallSearch(1)).value();
  CHECK(cluster.Shows("warpsmith_gpus", {{"node", "node-of-w1"}, {"state", "busy"}}, 1));
  CHECK(cluster.Shows("warpsmith_tasks", {{"kind", "intake"}, {"state", "running"}}, 1));
  worker->draining = true;
  CHECK(cluster.Shows("warpsmith_workers", {{"state", "draining"}}, 1));
  CHECK(cluster.Shows("warpsmith_workers", {{"state", "connected"}}, 0));
  worker->wedged = true;
  CHECK(cluster.Shows("warpsmith_gpus", {{"node", "node-of-w1"}, {"state", "wedged"}}, 1));
  worker = nullptr;
  CHECK(cluster.Shows("warpsmith_workers", {{"state", "draining"}}, 0));
  CHECK(cluster.Page().Value("warpsmith_gpus", {{"node", "node-of-w1"}, {"state", "wedged"}}) == 1);
  worker = cluster.Worker("w1", "boot2", 4, /*holding=*/true);
  CHECK(cluster.Shows("warpsmith_worker_restarts_total", {{"node", "node-of-w1"}, {"reason", "wedged"}}, 1));
  CHECK(cluster.Page().Value("warpsmith_gpus", {{"node", "node-of-w1"}, {"state", "wedged"}}) == 0);
  CHECK(cluster.Shows("warpsmith_tasks", {{"kind", "evaluate"}, {"state", "running"}}, 4));
  // Killed: what it had goes back into the queue and waits, and its age shows.
  worker = nullptr;
  CHECK(cluster.Shows("warpsmith_workers", {{"state", "silent"}}, 1));
  CHECK(cluster.Shows("warpsmith_rescues_total", {{"reason", "lease"}}, 4));
  CHECK(cluster.Eventually([&] {
    return cluster.Page().Value("warpsmith_queue_oldest_age_seconds", {{"kind", "evaluate"}}).value_or(0) > 0;
  }));
}

TEST_CASE("figures of the whole cluster's life go on over a restart", "[pg][metrics]") {
  ShownCluster cluster;
  auto worker = cluster.Worker("w1");
  REQUIRE(cluster.Finished(cluster.Submit(SmallSearch(1)).value()).state() == v1::SEARCH_STATE_DONE);
  const auto whole = [&](const MetricsPage& page) {
    return page.Value("warpsmith_gpu_seconds_total") == cluster.Number("SELECT sum(gpu_seconds) FROM evaluation");
  };
  REQUIRE(cluster.Eventually([&] { return whole(cluster.Page()); }));
  const MetricsPage before = cluster.Page();
  cluster.StopCoordinator();
  cluster.options.engine.max_usd_per_day = 12;
  cluster.StartCoordinator();
  REQUIRE(cluster.Eventually([&] { return whole(cluster.Page()); }));
  const MetricsPage after = cluster.Page();
  CHECK(after.Value("warpsmith_spend_usd_total") == before.Value("warpsmith_spend_usd_total"));
  CHECK(after.Value("warpsmith_last_improvement_timestamp_seconds").value() ==
        Approx(before.Value("warpsmith_last_improvement_timestamp_seconds").value()).margin(5));
  CHECK(after.Value("warpsmith_budget_usd", {{"state", "limit"}}) == 12);
  CHECK(after.Sum("warpsmith_candidates_total") == 0);
}

TEST_CASE("the program that waits for its turn is alive and not ready, and takes over", "[pg][program][metrics]") {
  const std::string database = PostgresServer::Shared().CreateDatabase();
  const TemporaryDirectory folder = TemporaryDirectory::Create("metrics-program-").value();
  const auto start = [&](const std::string& name) {
    ChildOptions options;
    options.arguments = {WARPSMITH_BINARY_DIR "/bin/warpsmith-coordinator",
                         "--listen",
                         "127.0.0.1:0",
                         "--database",
                         database,
                         "--election-patience-seconds",
                         "60",
                         "--metrics-address",
                         "127.0.0.1:0",
                         "--metrics-port-file",
                         folder.path() / name};
    options.stderr_to_parent = true;
    return ChildProcess::Start(options).value();
  };
  const auto port = [&](const std::string& name) {
    Cluster::Eventually([&] { return ReadFile(folder.path() / name).ok(); });
    return std::atoi(ReadFile(folder.path() / name).value_or("0").c_str());
  };
  auto first = start("first");
  REQUIRE(port("first") > 0);
  REQUIRE(Cluster::Eventually([&] { return HttpGet(port("first"), "/readyz").status == 200; }));
  auto second = start("second");
  REQUIRE(port("second") > 0);
  CHECK(HttpGet(port("second"), "/healthz").status == 200);
  const HttpAnswer waiting = HttpGet(port("second"), "/readyz");
  CHECK(waiting.status == 503);
  CHECK_THAT(waiting.body, Catch::Contains("leadership: not ready: this coordinator does not lead"));
  CHECK(MetricsPage::Of(port("second")).Value("warpsmith_is_leader") == 0);
  first->Kill(SIGKILL);
  REQUIRE(first->Wait(std::chrono::seconds(10)));
  CHECK(Cluster::Eventually([&] { return HttpGet(port("second"), "/readyz").status == 200; }));
  CHECK(MetricsPage::Of(port("second")).Value("warpsmith_is_leader") == 1);
  second->Kill(SIGTERM);
  const auto ended = second->Wait(std::chrono::seconds(20));
  REQUIRE(ended);
  CHECK(ended->Describe() == "exit status 0");
}

}  // namespace
}  // namespace warpsmith::testing
