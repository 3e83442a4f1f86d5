#include "common/metrics/health_reporter.h"

#include <atomic>
#include <catch2/catch.hpp>

#include "common/clock.h"
#include "common/grpc_channel.h"
#include "tests/common/metrics/health_check.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::metrics {
namespace {

bool Becomes(const std::string& address, const std::string& state) {
  const TimePoint until = RealClock().Now() + std::chrono::seconds(20);
  while (RealClock().Now() < until) {
    if (testing::AskHealth(address) == state) return true;
    RealClock().SleepFor(std::chrono::milliseconds(5));
  }
  return false;
}

TEST_CASE("the gRPC health service says what the checks say, and stays at NOT_SERVING once stopped", "[grpc]") {
  std::atomic<bool> well{true};
  Readiness readiness;
  readiness.Set("database", [&] { return well ? absl::OkStatus() : Unavailable("away"); });
  v1::RateSharingService::Service service;  // any: a server without one does not start
  auto running = StartServer("127.0.0.1:0", {&service});
  REQUIRE(running.ok());
  const std::string address = "127.0.0.1:" + std::to_string(running->port);
  HealthReporter reporter(*running->server, readiness, 0.01);
  CHECK(Becomes(address, "SERVING"));
  well = false;
  CHECK(Becomes(address, "NOT_SERVING"));
  well = true;
  CHECK(Becomes(address, "SERVING"));
  reporter.Stop();
  CHECK(testing::AskHealth(address) == "NOT_SERVING");
  reporter.Stop();
  StopServer(*running->server, 1);
}

}  // namespace
}  // namespace warpsmith::metrics
