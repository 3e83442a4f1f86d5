#include "llm_gateway/metrics/gateway_metrics.h"

#include <catch2/catch.hpp>

#include "tests/support/metrics_page.h"

namespace warpsmith::gateway {
namespace {

using testing::MetricsPage;

v1::ModelCall Call(const std::string& model) {
  v1::ModelCall call;
  call.set_model(model);
  call.set_prompt_version("default/repair-1");
  call.set_finish_reason("stop");
  call.set_tries(1);
  return call;
}

TEST_CASE("each token is counted once, whatever the providers' fields add up to", "[unit]") {
  metrics::Telemetry telemetry;
  GatewayMetrics counted(telemetry);
  counted.AddModel({"m", "anthropic", [] { return 0; }, [] { return false; }});
  v1::ModelCall call = Call("m");
  call.set_input_tokens(1000);
  call.set_cached_input_tokens(600);
  call.set_cache_write_5m_tokens(100);
  call.set_cache_write_1h_tokens(50);
  call.set_output_tokens(40);
  call.set_reasoning_tokens(7);
  call.set_usd(0.25);
  call.set_price_id("2026-11-30");
  call.set_first_byte_seconds(0.4);
  call.set_seconds(3);
  counted.CountCall(call);
  const MetricsPage page(telemetry.Page());
  const auto tokens = [&](const std::string& kind) {
    return page.Value("warpsmith_llm_tokens_total", {{"provider", "anthropic"}, {"model", "m"}, {"kind", kind}});
  };
  CHECK(tokens("input") == 250);
  CHECK(tokens("cached") == 600);
  CHECK(tokens("cache_write") == 150);
  CHECK(tokens("output") == 40);
  CHECK(tokens("reasoning") == 7);
  const MetricsPage::Labels model{{"provider", "anthropic"}, {"model", "m"}};
  CHECK(page.Value("warpsmith_llm_cost_usd_total", model) == 0.25);
  CHECK(page.Value("warpsmith_llm_first_token_seconds_sum", model) == 0.4);
  CHECK(page.Value("warpsmith_llm_request_seconds_sum", model) == 3);
}

TEST_CASE("a model without a price has no cost, a call that was not sent no time", "[unit]") {
  metrics::Telemetry telemetry;
  GatewayMetrics counted(telemetry);
  v1::ModelCall call = Call("m");
  call.set_tries(0);
  call.set_error_class("circuit_open");
  call.set_seconds(5);
  counted.CountCall(call);
  const MetricsPage page(telemetry.Page());
  CHECK(page.Value("warpsmith_llm_requests_total", {{"provider", "other"}, {"model", "m"}, {"code", "circuit_open"}}) ==
        1);
  CHECK(page.Samples("warpsmith_llm_cost_usd_total") == 0);
  CHECK(page.Samples("warpsmith_llm_request_seconds_count") == 0);
  CHECK(page.Samples("warpsmith_llm_first_token_seconds_count") == 0);
}

TEST_CASE("ten thousand names of models and prompts make no more than some hundred series", "[unit]") {
  metrics::Telemetry telemetry;
  GatewayMetrics counted(telemetry);
  for (int i = 0; i < 10'000; ++i) {
    v1::ModelCall call = Call("model" + std::to_string(i));
    call.set_prompt_version("version" + std::to_string(i));
    call.set_input_tokens(1);
    counted.CountCall(call);
    counted.CountReply(call, "parsed");
    counted.OnRetry(call.model(), ErrorClass::kServer);
    counted.OnLimitWait(call.model(), "queue", std::chrono::milliseconds(5));
  }
  const MetricsPage page(telemetry.Page());
  CHECK(page.Samples("warpsmith_llm_requests_total") == 201);
  CHECK(page.Samples("warpsmith_llm_replies_total") == 201);
  CHECK(page.Samples("warpsmith_llm_retries_total") == 201);
  CHECK(page.Samples("warpsmith_llm_limit_waits_total") == 201);
  CHECK(page.Sum("warpsmith_llm_requests_total") == 10'000);
  CHECK(page.Value("warpsmith_llm_replies_total",
                   {{"model", "other"}, {"prompt_version", "other"}, {"result", "parsed"}}) == 9'800);
}

}  // namespace
}  // namespace warpsmith::gateway
