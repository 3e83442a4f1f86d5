#include "llm_gateway/service/rate_sharer.h"

#include <catch2/catch.hpp>
#include <mutex>

#include "tests/llm_gateway/service/running_gateway.h"

namespace warpsmith::gateway {
namespace {

// A fake coordinator: gives every replica half of everything.
class Halves final : public v1::RateSharingService::Service {
 public:
  grpc::Status ShareRates(grpc::ServerContext*, const v1::ShareRatesRequest* request,
                          v1::ShareRatesReply* reply) override {
    std::lock_guard lock(mutex_);
    last_ = *request;
    ++calls_;
    for (const v1::ModelDemand& demand : request->demands()) {
      v1::ModelShare& share = *reply->add_shares();
      share.set_model(demand.model());
      share.set_requests_per_minute(demand.requests_per_minute() / 2);
      share.set_tokens_per_minute(demand.tokens_per_minute() / 2);
      share.set_concurrency(demand.concurrency() / 2);
    }
    reply->add_shares()->set_model("unheard");
    reply->set_valid_seconds(0.1);
    reply->set_replicas(2);
    return grpc::Status::OK;
  }
  v1::ShareRatesRequest last() {
    std::lock_guard lock(mutex_);
    return last_;
  }
  int calls() {
    std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  v1::ShareRatesRequest last_;
  int calls_ = 0;
};

bool Eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 400; ++i) {
    if (holds()) return true;
    RealClock().SleepFor(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_CASE("a replica keeps to the share that the coordinator gives it, also when that is away", "[grpc]") {
  FakeModelServer server(Json{{"code", One({{"reply", Code(kCandidate)}, {"delay_s", 0.3}})}});
  RunningGateway gateway(server, Model("a", "code", ", concurrency: 4, requests_per_minute: 600"));
  RateLimiter& limiter = *gateway.parts().models->Find("a")->limiter;
  auto folder = TemporaryDirectory::Create("sharer").value();
  const std::string address = "unix:" + (folder.path() / "c.sock").string();
  RateSharerOptions quick;
  quick.first_interval = std::chrono::milliseconds(50);
  RateSharer sharer(address, *gateway.parts().models, quick);
  // Nobody there yet: calls go on, with all that is configured.
  CHECK(gateway.Implement(ImplementRequest(1)).at(0).status() == "ok");
  CHECK(limiter.Demand().in_force.concurrency == 4);
  {
    Halves halves;
    RunningServer coordinator = StartServer(address, {&halves}).value();
    REQUIRE(Eventually([&] { return limiter.Demand().in_force.concurrency == 2; }));
    CHECK(limiter.Demand().in_force.requests_per_minute == Approx(300));
    CHECK(halves.last().gateway_id().size() == 16);
    REQUIRE(halves.last().demands_size() == 1);
    CHECK(halves.last().demands(0).requests_per_minute() == 600);
    const int before = halves.calls();
    REQUIRE(Eventually([&] { return halves.calls() >= before + 3; }));  // before its share is no longer valid

    grpc::ClientContext context;
    auto reader = gateway.stub().ImplementIdea(&context, ImplementRequest(4));
    CHECK(Eventually(
        [&] { return halves.last().demands(0).in_flight() == 2 && halves.last().demands(0).waiting() == 2; }));
    CHECK(ReadAll(*reader).size() == 4);
    StopServer(*coordinator.server, 1);
  }
  RealClock().SleepFor(std::chrono::milliseconds(200));
  CHECK(limiter.Demand().in_force.concurrency == 2);
  CHECK(gateway.Implement(ImplementRequest(1)).at(0).status() == "ok");
}

}  // namespace
}  // namespace warpsmith::gateway
