#include "llm_gateway/providers/anthropic.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/llm_gateway/providers/model_testing.h"
#include "tests/llm_gateway/providers/scripted_answers.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

constexpr char kAnthropicKey[] = "sk-ant-test-0123456789abcdefghijklmnop";

Json Error(const char* type) { return {{"type", "error"}, {"error", {{"type", type}, {"message", type}}}}; }

FakeProviderServer& AnthropicServer() {
  static FakeProviderServer server([] {
    Json scenarios = {
        {"good", GoodBut({{"thinking", "hm, hm"},
                          {"usage",
                           {{"input_tokens", 10},
                            {"cache_read_input_tokens", 200},
                            {"cache_creation_input_tokens", 70},
                            {"cache_creation", {{"ephemeral_5m_input_tokens", 50}, {"ephemeral_1h_input_tokens", 20}}},
                            {"output_tokens", 90},
                            {"output_tokens_details", {{"thinking_tokens", 60}}}}}})},
        {"plain_usage",
         GoodBut({{"usage", {{"input_tokens", 10}, {"cache_creation_input_tokens", 70}, {"output_tokens", 90}}}})},
        {"whole", GoodBut({{"whole", true}, {"usage", {{"input_tokens", 3}, {"output_tokens", 4}}}})},
        {"stop_sequence", GoodBut({{"finish", "stop_sequence"}})},
        {"max_tokens", GoodBut({{"finish", "max_tokens"}})},
        {"window", GoodBut({{"finish", "model_context_window_exceeded"}})},
        {"refusal", GoodBut({{"finish", "refusal"}})},
        {"pause", GoodBut({{"finish", "pause_turn"}})},
        {"no_end", GoodBut({{"finish", nullptr}})},
        {"cut", GoodBut({{"cut_after", 5}})},
        {"cut_at_end", GoodBut({{"cut_after", 7}, {"linger_s", 0}})},
        {"cut_once", ThenGood({{"text", kAnswerText}, {"cut_after", 5}})},
        {"overloaded_event",
         ThenGood({{"text", kAnswerText}, {"insert", {{"after", 4}, {"event", Error("overloaded_error")}}}})},
        {"invalid_event", GoodBut({{"insert", {{"after", 4}, {"event", Error("invalid_request_error")}}}})},
        {"overloaded",
         ThenGood({{"status", 529}, {"body", Error("overloaded_error")}, {"headers", {{"retry-after", "1"}}}})},
        {"limited", ThenGood({{"status", 429},
                              {"body", Error("rate_limit_error")},
                              {"headers",
                               {{"anthropic-ratelimit-requests-limit", "50"},
                                {"anthropic-ratelimit-requests-remaining", "0"},
                                {"anthropic-ratelimit-tokens-limit", "80000"},
                                {"anthropic-ratelimit-tokens-remaining", "7"},
                                {"anthropic-ratelimit-requests-reset", "2020-01-01T00:00:00Z"}}}})},
        {"billing", GoodBut({{"status", 402}, {"body", Error("billing_error")}})},
        {"bad_key", GoodBut({{"status", 401},
                             {"body",
                              {{"type", "error"},
                               {"error",
                                {{"type", "authentication_error"},
                                 {"message", std::string("invalid x-api-key ") + kAnthropicKey}}}}}})},
    };
    return scenarios;
  }());
  return server;
}

ModelConfig AnthropicModel(const std::string& scenario) {
  return TestModel("anthropic", AnthropicServer().BaseUrl(scenario));
}

TEST_CASE("a Messages stream: text, thinking, tokens by Anthropic's rule", "[http]") {
  std::string text, thinking;
  Completion completion =
      Ask(AnthropicModel("good"), TestPrompt(), nullptr,
          [&](DeltaKind kind, std::string_view piece) { (kind == DeltaKind::kText ? text : thinking).append(piece); });
  INFO(completion.message);
  CHECK(completion.ok());
  CHECK(completion.text == kAnswerText);
  CHECK(text == kAnswerText);
  CHECK(completion.reasoning == "hm, hm");
  CHECK(thinking == "hm, hm");
  CHECK(completion.finish_reason == "stop");
  CHECK(completion.usage.input == 280);
  CHECK(completion.usage.cached_input == 200);
  CHECK(completion.usage.cache_write_5m == 50);
  CHECK(completion.usage.cache_write_1h == 20);
  CHECK(completion.usage.reasoning == 60);
  CHECK(completion.usage.output == 30);
  completion = Ask(AnthropicModel("plain_usage"));
  CHECK(completion.usage.input == 80);
  CHECK(completion.usage.cache_write_5m == 70);
  CHECK(completion.usage.output == 90);
  completion = Ask(AnthropicModel("whole"));
  CHECK(completion.text == kAnswerText);
  CHECK(completion.usage.output == 4);
}

TEST_CASE("a Messages request", "[http]") {
  ModelConfig config = AnthropicModel("good");
  config.api_key_env = "WARPSMITH_TEST_KEY";
  config.temperature = 0.5;
  setenv("WARPSMITH_TEST_KEY", kAnthropicKey, 1);
  PromptRequest request;
  request.messages = {{"system", "contract", true},
                      {"system", "device", true},
                      {"user", "question", false},
                      {"user", "", true},
                      {"user", "more", false}};
  Ask(config, request);
  Json sent = AnthropicServer().RequestsOf("good").back();
  CHECK(sent["path"] == "/good/v1/messages");
  CHECK(sent["headers"]["x-api-key"] == kAnthropicKey);
  CHECK_FALSE(sent["headers"].contains("authorization"));
  CHECK(sent["headers"]["anthropic-version"] == "2023-06-01");
  auto block = [](const char* text) { return Json{{"type", "text"}, {"text", text}}; };
  auto cached = [&](const char* text) {
    Json marked = block(text);
    marked["cache_control"] = {{"type", "ephemeral"}};
    return marked;
  };
  CHECK(sent["body"] ==
        Json({{"model", "fake-model"},
              {"stream", true},
              {"max_tokens", 32000},
              {"temperature", 0.5},
              {"system", Json::array({cached("contract"), cached("device")})},
              {"messages",
               Json::array({{{"role", "user"}, {"content", Json::array({block("question"), block("more")})}}})}}));

  config.thinking_budget = 5000;
  config.max_output_tokens = 20000;
  request.schema_name = "ideas";
  request.schema = {{"type", "object"}};
  Ask(config, request);
  Json body = LastBody(AnthropicServer(), "good");
  CHECK(body["max_tokens"] == 20000);
  CHECK(body["thinking"] == Json({{"type", "enabled"}, {"budget_tokens", 5000}}));
  CHECK_FALSE(body.contains("temperature"));
  CHECK(body["output_config"] == Json({{"format", {{"type", "json_schema"}, {"schema", {{"type", "object"}}}}}}));
  // A caller's lower cap leaves room for the answer.
  request.max_output_tokens = 4000;
  Ask(config, request);
  CHECK(LastBody(AnthropicServer(), "good")["thinking"]["budget_tokens"] == 3000);
  request.max_output_tokens = 1000;
  Ask(config, request);
  CHECK_FALSE(LastBody(AnthropicServer(), "good").contains("thinking"));

  config.thinking_budget.reset();
  config.structured_output = false;
  request.effort = "high";
  CHECK(Ask(config, request).effort == "high");
  body = LastBody(AnthropicServer(), "good");
  CHECK(body["thinking"] == Json({{"type", "adaptive"}}));
  CHECK(body["output_config"] == Json({{"effort", "high"}}));
  config.thinking_budget = 0;
  config.extra_body = {{"metadata", {{"user_id", "u"}}}, {"max_tokens", 5}};
  Ask(config, request);
  body = LastBody(AnthropicServer(), "good");
  CHECK(body["thinking"] == Json({{"type", "disabled"}}));
  CHECK(body["temperature"] == 0.5);
  CHECK(body["metadata"]["user_id"] == "u");
  CHECK(body["max_tokens"] == 1000);  // the caller's cap holds

  config.base_url = config.base_url.substr(0, config.base_url.size() - 3);  // without /v1
  CHECK(Ask(config, request).ok());
  CHECK(AnthropicServer().RequestsOf("good").back()["path"] == "/good/v1/messages");
}

TEST_CASE("how a Messages answer may end", "[http]") {
  CHECK(Ask(AnthropicModel("stop_sequence")).finish_reason == "stop");
  CHECK(Ask(AnthropicModel("max_tokens")).finish_reason == "length");
  CHECK(Ask(AnthropicModel("window")).finish_reason == "length");
  CHECK(Ask(AnthropicModel("refusal")).finish_reason == "refusal");
  for (auto [scenario, error] :
       {std::pair("pause", ErrorClass::kMalformedReply), {"no_end", ErrorClass::kCut}, {"cut", ErrorClass::kCut}}) {
    INFO(scenario);
    ModelConfig config = AnthropicModel(scenario);
    config.tries = 1;
    Completion completion = Ask(config);
    CHECK(Name(completion.error) == Name(error));
    CHECK(completion.finish_reason == "error");
    CHECK(completion.usage.output == 0);  // counts on the way are no bill
  }
  CHECK(Ask(AnthropicModel("cut_at_end")).text == kAnswerText);  // after the reason to stop nothing is missing
}

TEST_CASE("Messages failures", "[http]") {
  for (const char* scenario : {"cut_once", "overloaded_event", "overloaded", "limited"}) {
    INFO(scenario);
    std::string text;
    Completion completion =
        Ask(AnthropicModel(scenario), TestPrompt(), nullptr, [&](DeltaKind kind, std::string_view piece) {
          if (kind == DeltaKind::kRestart) text.clear();
          text.append(piece);
        });
    INFO(completion.message);
    CHECK(completion.ok());
    CHECK(completion.tries == 2);
    CHECK(completion.text == kAnswerText);
    CHECK(text == kAnswerText);
    const bool refused = scenario == std::string("overloaded") || scenario == std::string("limited");
    CHECK(completion.unreported_tries == (refused ? 0 : 1));
    if (scenario == std::string("overloaded")) CHECK(completion.seconds >= 1);
    if (scenario == std::string("limited")) CHECK(completion.server_limits.limit_tokens == 80000);
  }
  Completion invalid = Ask(AnthropicModel("invalid_event"));
  CHECK(invalid.error == ErrorClass::kInvalidRequest);
  CHECK(invalid.tries == 1);
  Completion billing = Ask(AnthropicModel("billing"));
  CHECK(billing.error == ErrorClass::kQuota);
  CHECK(billing.tries == 1);
  ModelConfig config = AnthropicModel("bad_key");
  config.api_key_env = "WARPSMITH_TEST_KEY";
  setenv("WARPSMITH_TEST_KEY", kAnthropicKey, 1);
  Completion refused = Ask(config);
  CHECK(refused.error == ErrorClass::kAuthentication);
  CHECK_THAT(refused.message, Contains("[redacted]") && !Contains("sk-ant-t") && Contains("models[0].api_key_env"));
}

}  // namespace
}  // namespace warpsmith::gateway
