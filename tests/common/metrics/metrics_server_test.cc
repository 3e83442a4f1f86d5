#include "common/metrics/metrics_server.h"

#include <prometheus/counter.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "common/clock.h"
#include "common/file.h"
#include "common/metrics/build_info.h"
#include "common/metrics/metrics_options.h"
#include "tests/support/metrics_page.h"

namespace warpsmith::metrics {
namespace {

using Catch::Matchers::Contains;
using testing::HttpGet;
using testing::MetricsPage;

TEST_CASE("a scrape, health and readiness over HTTP", "[http]") {
  Telemetry telemetry;
  AddBuildInfo(telemetry, "warpsmith_build_info");
  auto& counter =
      prometheus::BuildCounter().Name("warpsmith_things_total").Help("Things").Register(telemetry.registry()).Add({});
  std::atomic<bool> well{false};
  telemetry.readiness().Set("thing", [&] { return well ? absl::OkStatus() : Unavailable("it is away"); });
  auto server = MetricsServer::Start("127.0.0.1:0", telemetry);
  REQUIRE(server.ok());
  const int port = (*server)->port();
  REQUIRE(port > 0);

  counter.Increment(41);
  counter.Increment();
  const MetricsPage page = MetricsPage::Of(port);
  CHECK(page.Value("warpsmith_things_total") == 42);
  CHECK(page.Sum("warpsmith_build_info") == 1);
  CHECK(page.LabelNames("warpsmith_build_info") == std::set<std::string>{"version", "revision", "harness_revision"});
  CHECK(PromtoolSays(page) == "");

  CHECK(HttpGet(port, "/healthz").status == 200);
  testing::HttpAnswer ready = HttpGet(port, "/readyz");
  CHECK(ready.status == 503);
  CHECK(ready.body == "thing: not ready: it is away\n");
  well = true;
  ready = HttpGet(port, "/readyz");
  CHECK(ready.status == 200);
  CHECK(ready.body == "thing: ok\n");

  // Nothing else is there, no files either.
  CHECK(HttpGet(port, "/").status == 404);
  CHECK(HttpGet(port, "/metrics/").status == 404);
  CHECK(HttpGet(port, "/../etc/passwd").status != 200);
  CHECK(HttpGet(port, "/etc/passwd").status == 404);
  CHECK(HttpGet(port, "/metrics", "POST").status == 405);
  const testing::HttpAnswer head = HttpGet(port, "/metrics", "HEAD");
  CHECK(head.status == 200);
  CHECK(head.body.empty());
}

TEST_CASE("scrapes at once all get whole pages, and the server ends soon", "[http]") {
  Telemetry telemetry;
  auto& family = prometheus::BuildCounter().Name("warpsmith_many_total").Help("Many").Register(telemetry.registry());
  for (int i = 0; i < 2000; ++i) family.Add({{"number", std::to_string(i)}}).Increment();
  auto server = MetricsServer::Start("127.0.0.1:0", telemetry);
  REQUIRE(server.ok());
  std::atomic<int> whole{0};
  std::vector<std::thread> scrapers;
  for (int i = 0; i < 8; ++i) {
    scrapers.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        const testing::HttpAnswer answer = HttpGet((*server)->port(), "/metrics");
        if (answer.status == 200 && MetricsPage(answer.body).Sum("warpsmith_many_total") == 2000) ++whole;
      }
    });
  }
  for (std::thread& scraper : scrapers) scraper.join();
  CHECK(whole == 40);
  const TimePoint before = RealClock().Now();
  server->reset();
  CHECK(ToSeconds(RealClock().Now() - before) < 1);
}

TEST_CASE("addresses that cannot be used are refused with the remedy", "[http]") {
  Telemetry telemetry;
  const auto refused = [&](const std::string& address) {
    const auto server = MetricsServer::Start(address, telemetry);
    return server.ok() ? "" : Message(server.status());
  };
  CHECK_THAT(refused("localhost"), Contains("has no port") && Contains("--metrics-address"));
  CHECK_THAT(refused("127.0.0.1:99999"), Contains("0 to 65535"));
  CHECK_THAT(refused("127.0.0.1:9,80"), Contains("0 to 65535"));
  CHECK_THAT(refused("no-such-host.example:9464"), Contains("no IP address"));
  CHECK_THAT(refused("8.8.8.8:9464"), Contains("cannot listen on 8.8.8.8:9464"));
  auto first = MetricsServer::Start("127.0.0.1:0", telemetry);
  REQUIRE(first.ok());
  const std::string taken = "127.0.0.1:" + std::to_string((*first)->port());
  CHECK_THAT(refused(taken), Contains("in use") && Contains("--metrics-address"));

  // The default may be in use by another worker; what an operator asked for must be had.
  MetricsOptions options{taken, "", false};
  auto none = StartMetrics(options, telemetry);
  REQUIRE(none.ok());
  CHECK(*none == nullptr);
  options.given = true;
  CHECK_FALSE(StartMetrics(options, telemetry).ok());
  options.address = "";
  none = StartMetrics(options, telemetry);
  REQUIRE(none.ok());
  CHECK(*none == nullptr);

  const TemporaryDirectory folder = TemporaryDirectory::Create("metrics-test-").value();
  options = {"localhost:0", folder.path() / "port", true};
  const auto running = StartMetrics(options, telemetry);
  REQUIRE(running.ok());
  CHECK(ReadFile(folder.path() / "port").value() == std::to_string((*running)->port()) + "\n");
}

TEST_CASE("the flags", "[unit]") {
  const auto parse = [](const std::vector<std::string>& arguments) {
    CLI::App app;
    MetricsOptions options{"127.0.0.1:9464", "", false};
    AddMetricsOptions(app, &options);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
    return options;
  };
  CHECK(parse({}).address == "127.0.0.1:9464");
  CHECK_FALSE(parse({}).given);
  CHECK(parse({"--metrics-address", ""}).address.empty());
  CHECK(parse({"--metrics-address", ""}).given);
  CHECK(parse({"--metrics-address", "0.0.0.0:1", "--metrics-port-file", "/x"}).port_file == "/x");
  CHECK(AddressOfNumber("127.0.0.1:9466", 3) == "127.0.0.1:9469");
  CHECK(AddressOfNumber("[::1]:9466", 0) == "[::1]:9466");
  CHECK(AddressOfNumber("127.0.0.1:0", 3) == "127.0.0.1:0");
  CHECK(AddressOfNumber("", 3).empty());
  CHECK(AddressOfNumber("127.0.0.1:65535", 1) == "127.0.0.1:65535");
}

}  // namespace
}  // namespace warpsmith::metrics
