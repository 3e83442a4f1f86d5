// The worker program on the emulated device, scraped after it has taken in a problem and judged three candidates.
#include <catch2/catch.hpp>
#include <csignal>

#include "common/child_process.h"
#include "common/clock.h"
#include "common/file.h"
#include "tests/coordinator/metrics/shown_cluster.h"

namespace warpsmith::testing {
namespace {

constexpr char kProblem[] = R"(import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.clone()


def get_inputs():
    return [torch.rand(16, 256)]


def get_init_inputs():
    return []
)";

std::string Plan(const std::string& steps) {
  return "/* warpsmith-plan\n{\"version\": 1, \"steps\": [" + steps + "]}\n*/\n";
}

TEST_CASE("the worker program shows what it did", "[pg][program][metrics]") {
  ShownCluster cluster;
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest&, int index) {
    if (index == 0) return Plan(R"({"copy": "x", "to": "output"})");
    if (index == 1) return Plan(R"({"memset": "output", "value": 0})");
    return Plan(R"({"copy": "no_such_tensor", "to": "output"})");
  };
  const TemporaryDirectory folder = TemporaryDirectory::Create("worker-metrics-").value();
  ChildOptions options;
  options.arguments = {WARPSMITH_BINARY_DIR "/bin/warpsmith-worker",
                       "--coordinator",
                       cluster.address(),
                       "--data-dir",
                       folder.path() / "data",
                       "--device",
                       "emulated",
                       "--worker-id",
                       "w1",
                       "--node",
                       "machine",
                       "--metrics-address",
                       "127.0.0.1:0",
                       "--metrics-port-file",
                       folder.path() / "port"};
  options.stderr_to_parent = true;
  auto program = ChildProcess::Start(options).value();
  REQUIRE(Cluster::Eventually([&] { return ReadFile(folder.path() / "port").ok(); }, 60));
  const int port = std::atoi(ReadFile(folder.path() / "port").value().c_str());
  REQUIRE(Cluster::Eventually([&] { return HttpGet(port, "/readyz").status == 200; }, 60));
  CHECK(HttpGet(port, "/readyz").body == "device: ok\ncoordinator: ok\n");

  v1::SubmitSearchRequest request = SmallSearch(1);
  request.set_source(kProblem);
  request.mutable_settings()->set_ideas(1);
  request.mutable_settings()->set_implementations(3);
  const v1::Search search = cluster.Finished(cluster.Submit(request).value(), 150);
  INFO(search.error());
  REQUIRE(search.state() == v1::SEARCH_STATE_DONE);
  REQUIRE(Cluster::Eventually([&] { return MetricsPage::Of(port).Value("warpsmith_spooled_results") == 0; }));

  const MetricsPage page = MetricsPage::Of(port);
  const auto outcome = [&](const std::string& name) {
    return page.Value("warpsmith_evaluations_total", {{"gpu", "0"}, {"outcome", name}});
  };
  CHECK(outcome("ok") == cluster.Number("SELECT count(*) FROM evaluation WHERE outcome = 14"));
  CHECK(outcome("ok").value() >= 1);
  CHECK(outcome("wrong_output") == 1);
  CHECK(outcome("plan_error") == 1);
  CHECK(page.Value("warpsmith_evaluation_stage_seconds_count", {{"gpu", "0"}, {"stage", "intake"}}) == 1);
  CHECK(page.Value("warpsmith_evaluation_stage_seconds_count", {{"gpu", "0"}, {"stage", "measure"}}).value() >= 1);
  // The intake had the device too.
  CHECK(page.Value("warpsmith_gpu_busy_seconds_total", {{"gpu", "0"}}).value() >
        cluster.Number("SELECT sum(gpu_seconds) FROM evaluation"));
  CHECK(page.Value("warpsmith_coordinator_connected") == 1);
  CHECK(DifferencesFromDocs(page, "Worker",
                            {"warpsmith_gpu_throttled", "warpsmith_gpu_temperature_celsius",
                             "warpsmith_gpu_power_watts", "warpsmith_gpu_memory_used_bytes"}) == "");
  CHECK(PromtoolSays(page) == "");
  CHECK(cluster.Page().Value("warpsmith_gpu_busy_seconds_total", {{"node", "machine"}, {"gpu", "0"}}).value() ==
        Approx(cluster.Number("SELECT sum(gpu_seconds) FROM evaluation")));

  // Without its coordinator it is alive and not ready.
  cluster.StopCoordinator();
  REQUIRE(Cluster::Eventually([&] { return HttpGet(port, "/readyz").status == 503; }));
  CHECK_THAT(HttpGet(port, "/readyz").body,
             Catch::Contains("coordinator: not ready: the coordinator has not answered"));
  CHECK(HttpGet(port, "/healthz").status == 200);
  CHECK(MetricsPage::Of(port).Value("warpsmith_coordinator_connected") == 0);
  program->Kill(SIGTERM);
  const auto ended = program->Wait(std::chrono::seconds(30));
  REQUIRE(ended);
  CHECK(ended->Describe() == "exit status 0");
}

}  // namespace
}  // namespace warpsmith::testing
