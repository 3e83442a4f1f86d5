// What a scrape of the gateway shows after real calls to a fake server whose every answer is known.
#include <catch2/catch.hpp>
#include <csignal>
#include <sstream>

#include "common/metrics/metrics_server.h"
#include "tests/common/metrics/health_check.h"
#include "tests/llm_gateway/service/running_gateway.h"
#include "tests/llm_gateway/support/sample_problem.h"
#include "tests/support/metrics_page.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;
using testing::HttpGet;
using testing::MetricsPage;
using Labels = MetricsPage::Labels;

struct Shown {
  explicit Shown(FakeModelServer& server, const std::string& models, const std::string& head = "")
      : counted(std::make_shared<GatewayMetrics>(telemetry)),
        gateway(server, models, "", head, counted.get()),
        http(metrics::MetricsServer::Start("127.0.0.1:0", telemetry).value()) {
    telemetry.Add(counted);
  }
  MetricsPage Page() const { return MetricsPage::Of(http->port()); }

  metrics::Telemetry telemetry;
  std::shared_ptr<GatewayMetrics> counted;
  RunningGateway gateway;
  std::unique_ptr<metrics::MetricsServer> http;
};

v1::ImplementIdeaRequest Ask(const std::string& model, int count, const std::string& key = "") {
  v1::ImplementIdeaRequest request = ImplementRequest(count, key);
  request.mutable_call()->add_models(model);
  return request;
}

Labels Request(const std::string& model, const std::string& code) {
  return {{"provider", "openai_compatible"}, {"model", model}, {"code", code}};
}

double Replies(const MetricsPage& page, const std::string& model, const std::string& result) {
  double sum = 0;
  std::istringstream lines(page.text());
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("warpsmith_llm_replies_total{", 0) == 0 &&
        line.find("model=\"" + model + "\"") != std::string::npos &&
        line.find("result=\"" + result + "\"") != std::string::npos) {
      sum += std::atof(line.c_str() + line.rfind(' '));
    }
  }
  return sum;
}

TEST_CASE("calls, tokens, cost, retries and replies of a known run", "[grpc][metrics]") {
  const Json usage{{"prompt_tokens", 100}, {"completion_tokens", 20}, {"total_tokens", 120}};
  FakeModelServer server(Json{
      {"good", One({{"reply", Code(kCandidate)}, {"usage", usage}})},
      {"late",
       Json::array({Json{{"status", 500}, {"body", "no"}}, Json{{"reply", Code(kCandidate)}, {"usage", usage}}})},
      {"cut", One({{"reply", "```cuda\n" + std::string(kCandidate)}, {"finish_reason", "length"}, {"usage", usage}})},
      {"refuses", One({{"reply", "I must not"}, {"finish_reason", "content_filter"}, {"usage", usage}})},
      {"prose", One({{"reply", "There is no code here."}, {"usage", usage}})},
      {"down", One({{"status", 400}, {"body", "no"}})}});
  Shown shown(server, Model("good", "good", ", price: {input: 1, output: 10}") + Model("late", "late") +
                          Model("cut", "cut") + Model("refuses", "refuses") + Model("prose", "prose") +
                          Model("down", "down"));
  for (const char* model : {"late", "cut", "refuses", "prose", "down"}) shown.gateway.Implement(Ask(model, 1));
  shown.gateway.Implement(Ask("good", 3, "key"));
  shown.gateway.Implement(Ask("good", 3, "key"));  // from the store: not paid for, not counted

  const MetricsPage page = shown.Page();
  CHECK(page.Value("warpsmith_llm_requests_total", Request("good", "ok")) == 3);
  CHECK(page.Value("warpsmith_llm_requests_total", Request("late", "ok")) == 1);
  CHECK(page.Value("warpsmith_llm_requests_total", Request("down", "invalid_request")) == 1);
  const Labels good{{"provider", "openai_compatible"}, {"model", "good"}};
  const auto tokens = [&](const std::string& kind) {
    return page.Value("warpsmith_llm_tokens_total",
                      {{"provider", "openai_compatible"}, {"model", "good"}, {"kind", kind}});
  };
  CHECK(tokens("input") == 300);
  CHECK(tokens("output") == 60);
  CHECK_FALSE(tokens("cached"));
  CHECK(page.Value("warpsmith_llm_cost_usd_total", good).value() == Approx((300 * 1 + 60 * 10) / 1e6));
  CHECK(page.Samples("warpsmith_llm_cost_usd_total") == 1);
  CHECK(page.Value("warpsmith_llm_first_token_seconds_count", good) == 3);
  CHECK(page.Value("warpsmith_llm_request_seconds_count", good) == 3);
  CHECK(page.Value("warpsmith_llm_retries_total",
                   {{"provider", "openai_compatible"}, {"model", "late"}, {"reason", "server"}}) == 1);
  CHECK(page.Sum("warpsmith_llm_retries_total") == 1);
  CHECK(Replies(page, "good", "parsed") == 3);
  CHECK(Replies(page, "late", "parsed") == 1);
  CHECK(Replies(page, "cut", "truncated") >= 1);
  CHECK(Replies(page, "refuses", "refused") == 1);
  CHECK(Replies(page, "prose", "no_code") == 1);
  CHECK(Replies(page, "down", "model_error") == 1);
  for (const char* model : {"good", "late", "cut", "refuses", "prose", "down"}) {
    CHECK(page.Value("warpsmith_llm_calls_in_flight", {{"model", model}}) == 0);
    CHECK(page.Value("warpsmith_llm_circuit_open", {{"provider", "openai_compatible"}, {"model", model}}) == 0);
  }
  CHECK(testing::DifferencesFromDocs(page, "Gateway",
                                     {"warpsmith_llm_limit_waits_total", "warpsmith_llm_limit_wait_seconds"}) == "");
  CHECK(testing::PromtoolSays(page) == "");
}

TEST_CASE("waits for the concurrency and refusals by budgets are seen", "[grpc][metrics]") {
  FakeModelServer server(Json{{"slow", One({{"reply", Code(kCandidate)}, {"delay_s", 0.2}})},
                              {"dear", One({{"reply", Code(kCandidate)}})}});
  Shown shown(server,
              Model("slow", "slow", ", concurrency: 1") + Model("dear", "dear", ", price: {input: 1000, output: 1000}"),
              "max_usd_per_day: 1\n");
  shown.gateway.Implement(Ask("slow", 3));
  shown.gateway.Implement(Ask("dear", 2));
  v1::ImplementIdeaRequest poor = Ask("dear", 1);
  poor.mutable_call()->set_max_usd(0.0001);
  shown.gateway.Implement(poor);
  const MetricsPage page = shown.Page();
  // Without a price, under a limit in dollars: refused by the day's budget before it waits.
  CHECK(page.Value("warpsmith_llm_requests_total", Request("slow", "budget")) == 3);
  CHECK(page.Value("warpsmith_llm_requests_total", Request("dear", "budget")) == 3);
  CHECK(page.Value("warpsmith_llm_budget_refusals_total", {{"scope", "request"}}) == 1);
  CHECK(page.Value("warpsmith_llm_budget_refusals_total", {{"scope", "day"}}) == 5);
  CHECK(page.Samples("warpsmith_llm_request_seconds_count") == 0);

  Shown unlimited(server, Model("slow", "slow", ", concurrency: 1"));
  unlimited.gateway.Implement(Ask("slow", 3));
  const MetricsPage waits = unlimited.Page();
  // One goes at once, one waits for it, one behind that.
  CHECK(waits.Value("warpsmith_llm_limit_waits_total", {{"model", "slow"}, {"limit", "concurrency"}}).value_or(0) +
            waits.Value("warpsmith_llm_limit_waits_total", {{"model", "slow"}, {"limit", "queue"}}).value_or(0) ==
        2);
  CHECK(waits.Value("warpsmith_llm_limit_waits_total", {{"model", "slow"}, {"limit", "concurrency"}}).value() >= 1);
  CHECK(waits.Value("warpsmith_llm_limit_wait_seconds_count", {{"model", "slow"}}) == 2);
  CHECK(waits.Value("warpsmith_llm_limit_wait_seconds_sum", {{"model", "slow"}}).value() > 0);
  CHECK(testing::DifferencesFromDocs(waits, "Gateway",
                                     {"warpsmith_llm_cost_usd_total", "warpsmith_llm_retries_total"}) == "");
}

TEST_CASE("the program is ready once its coordinator answers, and says so when it does not", "[program][metrics]") {
  const TemporaryDirectory folder = TemporaryDirectory::Create("gateway-metrics-").value();
  const auto start = [&](const std::vector<std::string>& more, const std::string& name) {
    ChildOptions options;
    options.arguments = {WARPSMITH_BINARY_DIR "/bin/warpsmith-gateway",
                         "--listen",
                         "127.0.0.1:0",
                         "--port-file",
                         folder.path() / (name + ".grpc"),
                         "--metrics-address",
                         "127.0.0.1:0",
                         "--metrics-port-file",
                         folder.path() / name};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    options.stderr_to_parent = true;
    return ChildProcess::Start(options).value();
  };
  const auto port = [&](const std::string& name) {
    for (int i = 0; i < 1000 && !ReadFile(folder.path() / name).ok(); ++i) {
      RealClock().SleepFor(std::chrono::milliseconds(20));
    }
    return std::atoi(ReadFile(folder.path() / name).value_or("0").c_str());
  };
  auto alone = start({}, "alone");
  REQUIRE(port("alone") > 0);
  CHECK(HttpGet(port("alone"), "/readyz").body == "configuration: ok\n");
  CHECK(MetricsPage::Of(port("alone")).Sum("warpsmith_build_info") == 1);

  auto lost = start({"--coordinator", "127.0.0.1:1"}, "lost");
  REQUIRE(port("lost") > 0);
  const testing::HttpAnswer ready = HttpGet(port("lost"), "/readyz");
  CHECK(ready.status == 503);
  CHECK_THAT(ready.body, Contains("configuration: ok\n") &&
                             Contains("coordinator: not ready: the coordinator at 127.0.0.1:1 does not answer"));
  const std::string address = "127.0.0.1:" + std::to_string(port("lost.grpc"));
  std::string health;
  for (int i = 0; i < 500 && health != "NOT_SERVING"; ++i) {
    health = testing::AskHealth(address);
    RealClock().SleepFor(std::chrono::milliseconds(20));
  }
  CHECK(health == "NOT_SERVING");
  for (auto* program : {&alone, &lost}) {
    (*program)->Kill(SIGTERM);
    const auto exit = (*program)->Wait(std::chrono::seconds(20));
    REQUIRE(exit);
    CHECK(exit->Describe() == "exit status 0");
  }
}

}  // namespace
}  // namespace warpsmith::gateway
