#include "gpu_worker/metrics/worker_metrics.h"

#include <catch2/catch.hpp>

#include "gpu_worker/metrics/observed_connector.h"
#include "gpu_worker/metrics/observed_task_runner.h"
#include "tests/support/metrics_page.h"

namespace warpsmith::metrics {
namespace {

using testing::MetricsPage;

// Ends each assignment as the test says.
struct ScriptedRunner final : session::TaskRunner {
  v1::TaskResult Run(const v1::Assignment&, std::stop_token) override {
    clock.Advance(std::chrono::seconds(2));
    return next;
  }
  v1::TaskResult next;
  FakeClock clock;
};

struct Worker {
  Worker() {
    telemetry.Add(counted);
    counted->SetGpu("3");
  }
  void End(const v1::TaskResult& result, bool intake = false, bool cancelled = false) {
    v1::Assignment assignment;
    intake ? (void)assignment.mutable_intake() : (void)assignment.mutable_evaluate();
    std::stop_source stop;
    if (cancelled) stop.request_stop();
    scripted.next = result;
    runner.Run(assignment, stop.get_token());
  }
  MetricsPage Page() { return MetricsPage(telemetry.Page()); }

  Telemetry telemetry;
  ScriptedRunner scripted;
  std::shared_ptr<WorkerMetrics> counted = std::make_shared<WorkerMetrics>(telemetry, scripted.clock);
  ObservedTaskRunner runner{scripted, *counted, scripted.clock};
};

TEST_CASE("three evaluations with known outcomes give exactly these counts", "[unit]") {
  Worker worker;
  v1::TaskResult result;
  result.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
  result.mutable_evaluation()->mutable_stage_seconds()->set_compile(0.5);
  result.mutable_evaluation()->mutable_stage_seconds()->set_measure(1.5);
  worker.End(result);
  result.mutable_evaluation()->clear_stage_seconds();
  result.mutable_evaluation()->mutable_stage_seconds()->set_compile(0.25);
  result.mutable_evaluation()->set_outcome(v1::OUTCOME_COMPILE_ERROR);
  worker.End(result);
  worker.End(result, false, /*cancelled=*/true);
  result.set_infra_error("the machine failed");
  worker.End(result);
  result.mutable_intake();
  worker.End(result, /*intake=*/true);

  const MetricsPage page = worker.Page();
  const auto outcome = [&](const std::string& name) {
    return page.Value("warpsmith_evaluations_total", {{"gpu", "3"}, {"outcome", name}});
  };
  CHECK(outcome("ok") == 1);
  CHECK(outcome("compile_error") == 1);
  CHECK(outcome("infra_error") == 1);
  CHECK(outcome("wrong_output") == 0);
  CHECK(page.Sum("warpsmith_evaluations_total") == 3);
  const auto stage = [&](const std::string& name, const std::string& end) {
    return page.Value("warpsmith_evaluation_stage_seconds" + end, {{"gpu", "3"}, {"stage", name}});
  };
  CHECK(stage("compile", "_count") == 2);
  CHECK(stage("compile", "_sum") == 0.75);
  CHECK(stage("measure", "_count") == 1);
  CHECK_FALSE(stage("profile", "_count"));
  CHECK(stage("intake", "_sum") == 2);
}

TEST_CASE("the device's use, its state and lost executors", "[unit]") {
  Worker worker;
  absl::Status health;
  DeviceSample sample;
  worker.counted->SetSources(
      {[&] { return health; }, [&] { return sample; }, [] { return size_t{4}; }, [] { return true; }});
  {
    const evaluate::DeviceHold hold(*worker.counted);
    worker.scripted.clock.Advance(std::chrono::seconds(6));
  }
  worker.counted->OnExecutorLost("timeout");
  MetricsPage page = worker.Page();
  const MetricsPage::Labels gpu{{"gpu", "3"}};
  CHECK(page.Value("warpsmith_gpu_busy_seconds_total", gpu) == 6);
  CHECK(page.Value("warpsmith_gpu_busy_ratio", gpu) == 1);
  CHECK(page.Value("warpsmith_gpu_wedged", gpu) == 0);
  CHECK_FALSE(page.Value("warpsmith_gpu_throttled", gpu));
  CHECK_FALSE(page.Value("warpsmith_gpu_temperature_celsius", gpu));
  CHECK(page.Value("warpsmith_executor_restarts_total", {{"gpu", "3"}, {"reason", "timeout"}}) == 1);
  CHECK(page.Value("warpsmith_spooled_results") == 4);
  CHECK(page.Value("warpsmith_coordinator_connected") == 1);
  CHECK(testing::DifferencesFromDocs(
            page, "Worker",
            {"warpsmith_gpu_throttled", "warpsmith_gpu_temperature_celsius", "warpsmith_gpu_power_watts",
             "warpsmith_gpu_memory_used_bytes", "warpsmith_evaluation_stage_seconds"}) == "");

  health = FailedPrecondition("a process cannot be ended");
  sample = {true, 88, 700, 1e9};
  page = worker.Page();
  CHECK(page.Value("warpsmith_gpu_wedged", gpu) == 1);
  CHECK(page.Value("warpsmith_gpu_throttled", gpu) == 1);
  CHECK(page.Value("warpsmith_gpu_temperature_celsius", gpu) == 88);
  CHECK(page.Value("warpsmith_gpu_power_watts", gpu) == 700);
  CHECK(page.Value("warpsmith_gpu_memory_used_bytes", gpu) == 1e9);
  CHECK(worker.counted->Condition().wedged());
  CHECK(worker.counted->Condition().throttled());
  CHECK_FALSE(worker.counted->Condition().retired());
  health = MakeStatus(absl::StatusCode::kDataLoss, "wrong sums");
  CHECK(worker.counted->Condition().retired());
  CHECK_FALSE(worker.counted->Condition().wedged());
  CHECK(testing::DifferencesFromDocs(worker.Page(), "Worker", {"warpsmith_evaluation_stage_seconds"}) == "");
  CHECK(testing::PromtoolSays(worker.Page()) == "");
}

// A coordinator that the test speaks for.
struct ScriptedConnector final : session::CoordinatorConnector {
  struct Stream final : session::CoordinatorStream {
    explicit Stream(int& sent) : sent_(sent) {}
    void Send(v1::WorkerMessage) override { ++sent_; }
    void Close() override {}
    int& sent_;
  };
  std::unique_ptr<session::CoordinatorStream> Open(session::StreamListener& opened) override {
    listener = &opened;
    return std::make_unique<Stream>(sent);
  }
  absl::StatusOr<std::string> GetBlob(const std::string& sha256) override { return "blob of " + sha256; }
  session::StreamListener* listener = nullptr;
  int sent = 0;
};

struct HeardStream final : session::StreamListener {
  void OnMessage(v1::CoordinatorMessage) override { ++messages; }
  void OnClosed(const absl::Status& status) override { closed = status; }
  int messages = 0;
  absl::Status closed;
};

TEST_CASE("connected from the coordinator's welcome to the stream's end", "[unit]") {
  ScriptedConnector scripted;
  ObservedConnector connector(scripted);
  HeardStream heard;
  auto stream = connector.Open(heard);
  CHECK_FALSE(connector.connected());
  stream->Send({});
  CHECK(scripted.sent == 1);
  v1::CoordinatorMessage welcome;
  welcome.mutable_welcome();
  scripted.listener->OnMessage(welcome);
  CHECK(connector.connected());
  CHECK(heard.messages == 1);
  scripted.listener->OnClosed(Unavailable("cut"));
  CHECK_FALSE(connector.connected());
  CHECK(Message(heard.closed) == "cut");
  CHECK(connector.GetBlob("x").value() == "blob of x");
}

}  // namespace
}  // namespace warpsmith::metrics
