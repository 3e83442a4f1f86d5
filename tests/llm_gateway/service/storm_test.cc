// A thousand calls at once, and servers that are too busy.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "llm_gateway/limits/guarded_model.h"
#include "tests/llm_gateway/service/running_gateway.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

TEST_CASE("a storm of 429 is waited out by all calls together, and none is lost", "[grpc]") {
  Json storm = Json::array();
  for (int i = 0; i < 12; ++i) {
    storm.push_back({{"status", 429},
                     {"headers", {{"retry-after-ms", "300"}}},
                     {"body", {{"error", {{"message", "slow down"}, {"code", "rate_limit_exceeded"}}}}}});
  }
  storm.push_back({{"reply", Code(kCandidate)}});
  FakeModelServer server(Json{{"storm", storm}});
  RunningGateway gateway(server, Model("a", "storm", ", concurrency: 8, tries: 6"));
  const std::vector<v1::Implementation> all = gateway.Implement(ImplementRequest(40));
  REQUIRE(all.size() == 40);
  int tries = 0;
  for (const v1::Implementation& one : all) {
    INFO(one.message());
    CHECK(one.status() == "ok");
    tries += one.call().tries();
  }
  // Only calls that were under way when it began met it; the others waited for the model as a whole.
  const size_t sent = server.RequestsOf("storm").size();
  CHECK(sent == 40 + 12);
  CHECK(tries == 40 + 12);
}

TEST_CASE("where a storm does not end calls do, each after its tries", "[grpc]") {
  FakeModelServer server(Json{
      {"storm", One({{"status", 429}, {"headers", {{"retry-after-ms", "20"}}}, {"body", "no"}})},
      {"quota", One({{"status", 429}, {"body", {{"error", {{"message", "gone"}, {"code", "insufficient_quota"}}}}}})}});
  RunningGateway gateway(server, Model("a", "storm", ", concurrency: 16, tries: 2") + Model("q", "quota"));
  v1::ImplementIdeaRequest request = ImplementRequest(16);
  request.mutable_call()->add_models("a");
  for (const v1::Implementation& one : gateway.Implement(request)) {
    CHECK(one.status() == "model_error");
    CHECK(one.call().error_class() == "rate_limited");
    CHECK(one.call().tries() <= 2);
  }
  CHECK(server.RequestsOf("storm").size() <= 32);
  request.mutable_call()->set_models(0, "q");
  request.set_count(1);
  CHECK(gateway.Implement(request).at(0).call().error_class() == "quota");
  CHECK(server.RequestsOf("quota").size() == 1);
}

// Waits until told to answer; all calls are under way meanwhile.
class WaitingModel final : public ModelProvider {
 public:
  Completion Complete(const PromptRequest& request, const DeltaCallback&, Cancellation&) override {
    ++begun;
    check();
    WaitPoint nobody;
    while (!go) nobody.WaitUntil(RealClock().Now() + std::chrono::milliseconds(5));
    std::lock_guard lock(mutex_);
    Completion completion;
    completion.tries = 1;
    const auto fate = random_() % 10;
    if (fate == 0) {
      completion.error = ErrorClass::kCut;  // charged whole
      completion.finish_reason = "error";
    } else if (fate == 1) {
      completion.error = ErrorClass::kInvalidRequest;  // costs nothing
      completion.finish_reason = "error";
    } else {
      completion.finish_reason = "stop";
      completion.text = "text";
      completion.usage.input = 5;
      completion.usage.output = static_cast<int64_t>(random_() % static_cast<uint64_t>(request.max_output_tokens)) + 1;
    }
    return completion;
  }
  std::atomic<int> begun{0};
  std::atomic<bool> go{false};
  std::function<void()> check;

 private:
  std::mutex mutex_;
  std::mt19937_64 random_{17};
};

TEST_CASE("1,000 calls under way at once never overrun what may be spent", "[unit]") {
  constexpr int kCalls = 1000;
  CurlTransport transport(3);
  WorkerPool threads(4);
  Fibers fibers(transport.loops(), threads);
  // A call may cost 0.011 $; the request has money for about 500 of them at once, the day for about 300.
  CallBudget request_budget(5.5, 0);
  DayBudget day(3.3, 0, RealClock());
  std::atomic<int> over{0}, ended{0}, refused{0};
  WaitingModel model;
  model.check = [&] {
    const CallBudget::State of_request = request_budget.state(), of_day = day.state();
    over += of_request.spent_usd + of_request.reserved_usd > 5.5 + 1e-9 || of_request.over_usd > 0;
    over += of_day.spent_usd + of_day.reserved_usd > 3.3 + 1e-9 || of_day.over_usd > 0;
  };
  GuardedEndpoint endpoint;
  endpoint.config.name = "a";
  endpoint.config.max_output_tokens = 1000;
  endpoint.model = &model;
  endpoint.price.emplace();
  endpoint.price->input = endpoint.price->cached_input = 1;
  endpoint.price->output = endpoint.price->reasoning = 11;
  GuardedModel guarded(
      "a", [&](const std::string&) { return &endpoint; }, &day, RealClock());
  std::mutex sums;
  double usd = 0;
  WaitPoint all;
  for (int i = 0; i < kCalls; ++i) {
    fibers.Run([&] {
      PromptRequest request;
      request.messages.push_back({"user", "Write a kernel.", false});
      request.budget = &request_budget;
      Cancellation cancellation;
      const Completion completion = guarded.Complete(request, nullptr, cancellation);
      model.check();
      refused += completion.error == ErrorClass::kBudget;
      {
        std::lock_guard lock(sums);
        usd += completion.usd;
      }
      if (++ended == kCalls) all.Notify();
    });
  }
  // As many as there is money for, the others waiting for what these leave.
  while (model.begun < 250 || fibers.active() < kCalls) std::this_thread::yield();
  CHECK(ended == 0);
  model.go = true;
  all.Wait();
  CHECK(over == 0);
  CHECK(refused > 0);  // else the limit was never in play
  CHECK(model.begun + refused == kCalls);
  const CallBudget::State state = day.state();
  CHECK(state.spent_usd == Approx(usd));
  CHECK(state.spent_usd <= 3.3);
  CHECK(state.spent_usd > 3.0);  // and what there was has been used
  CHECK(state.calls_in_flight == 0);
  CHECK(request_budget.state().spent_usd == Approx(usd));
}

}  // namespace
}  // namespace warpsmith::gateway
