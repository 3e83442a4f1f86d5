#include "llm_gateway/providers/gemini.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/llm_gateway/providers/model_testing.h"
#include "tests/llm_gateway/providers/scripted_answers.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

constexpr char kGeminiKey[] = "AIza-test-0123456789abcdefghijklmnop";

Json Exhausted(const char* quota, const char* delay) {
  return {{"error",
           {{"code", 429},
            {"message", "You exceeded your current quota"},
            {"status", "RESOURCE_EXHAUSTED"},
            {"details",
             {{{"@type", "type.googleapis.com/google.rpc.QuotaFailure"}, {"violations", {{{"quotaId", quota}}}}},
              {{"@type", "type.googleapis.com/google.rpc.RetryInfo"}, {"retryDelay", delay}}}}}}};
}

FakeProviderServer& GeminiServer() {
  static FakeProviderServer server([] {
    auto events = [](const Json& list) { return Json::array({{{"events", list}}}); };
    const Json unavailable = {{"error", {{"code", 503}, {"message", "overloaded"}, {"status", "UNAVAILABLE"}}}};
    return Json{
        {"good", GoodBut({{"thinking", "hm, hm"},
                          {"usage",
                           {{"promptTokenCount", 100},
                            {"cachedContentTokenCount", 60},
                            {"candidatesTokenCount", 20},
                            {"thoughtsTokenCount", 30},
                            {"toolUsePromptTokenCount", 5},
                            {"totalTokenCount", 155}}}})},
        {"whole", GoodBut({{"whole", true}})},  // a list of partial answers
        {"max_tokens", GoodBut({{"finish", "MAX_TOKENS"}})},
        {"safety", GoodBut({{"finish", "SAFETY"}, {"text", ""}})},
        {"recitation", GoodBut({{"finish", "RECITATION"}})},
        {"other", GoodBut({{"finish", "OTHER"}, {"reason", "it broke"}})},
        {"malformed", GoodBut({{"finish", "MALFORMED_FUNCTION_CALL"}})},
        {"no_end", GoodBut({{"finish", nullptr}})},
        {"blocked", events({{{"promptFeedback", {{"blockReason", "PROHIBITED_CONTENT"}}},
                             {"usageMetadata", {{"promptTokenCount", 9}}}}})},
        {"nobody", events({{{"usageMetadata", {{"promptTokenCount", 9}}}}})},
        {"cut_once", ThenGood({{"text", kAnswerText}, {"cut_after", 2}})},
        {"error_event", ThenGood({{"text", kAnswerText}, {"insert", {{"after", 1}, {"event", unavailable}}}})},
        {"error_list_event",
         ThenGood({{"text", kAnswerText},
                   {"insert", {{"after", 1}, {"event", Json::array({Exhausted("PerMinute", "0.6s")})}}}})},
        {"minute", ThenGood({{"status", 429}, {"body", Json::array({Exhausted("RequestsPerMinute", "1.2s")})}})},
        {"day", GoodBut({{"status", 429}, {"body", Exhausted("GenerateRequestsPerDayPerProject", "1s")}})},
        {"long", GoodBut({{"status", 429}, {"body", Exhausted("RequestsPerMinute", "3600s")}})},
        {"bad_key", GoodBut({{"status", 400},
                             {"body",
                              {{"error",
                                {{"code", 400},
                                 {"message", std::string("API key not valid: ") + kGeminiKey},
                                 {"status", "INVALID_ARGUMENT"},
                                 {"details", {{{"reason", "API_KEY_INVALID"}}}}}}}}})},
    };
  }());
  return server;
}

ModelConfig GeminiModel(const std::string& scenario) {
  return TestModel("gemini", GeminiServer().BaseUrl(scenario, "v1beta"));
}

TEST_CASE("a Gemini stream: text, thoughts, tokens by Gemini's rule", "[http]") {
  Completion completion = Ask(GeminiModel("good"));
  INFO(completion.message);
  CHECK(completion.ok());
  CHECK(completion.text == kAnswerText);
  CHECK(completion.reasoning == "hm, hm");
  CHECK(completion.finish_reason == "stop");
  CHECK(completion.usage.input == 105);
  CHECK(completion.usage.cached_input == 60);
  CHECK(completion.usage.output == 20);
  CHECK(completion.usage.reasoning == 30);
  CHECK(Ask(GeminiModel("whole")).text == kAnswerText);
}

TEST_CASE("a Gemini request", "[http]") {
  ModelConfig config = GeminiModel("good");
  config.api_key_env = "WARPSMITH_TEST_KEY";
  setenv("WARPSMITH_TEST_KEY", kGeminiKey, 1);
  Ask(config);
  Json sent = GeminiServer().RequestsOf("good").back();
  CHECK(sent["path"] == "/good/v1beta/models/fake-model:streamGenerateContent?alt=sse");
  CHECK(sent["headers"]["x-goog-api-key"] == kGeminiKey);
  CHECK_FALSE(sent["headers"].contains("authorization"));
  CHECK(sent["body"] ==
        Json({{"systemInstruction", {{"parts", Json::array({{{"text", "contract"}}})}}},
              {"contents", Json::array({{{"role", "user"}, {"parts", Json::array({{{"text", "question"}}})}}})}}));

  config.temperature = 0.5;
  config.max_output_tokens = 900;
  config.thinking_budget = -1;
  config.extra_body = {{"generationConfig", {{"topK", 3}, {"maxOutputTokens", 5}}}};
  PromptRequest request = TestPrompt();
  request.schema = {{"type", "object"}};
  Ask(config, request);
  CHECK(LastBody(GeminiServer(), "good")["generationConfig"] ==
        Json({{"topK", 3},
              {"maxOutputTokens", 900},
              {"temperature", 0.5},
              {"thinkingConfig", {{"thinkingBudget", -1}, {"includeThoughts", true}}},
              {"responseMimeType", "application/json"},
              {"responseJsonSchema", {{"type", "object"}}}}));
  config.thinking_budget = 0;
  Ask(config, request);
  CHECK(LastBody(GeminiServer(), "good")["generationConfig"]["thinkingConfig"] == Json({{"thinkingBudget", 0}}));
  request.effort = "high";  // asked for: before what is configured
  Ask(config, request);
  CHECK(LastBody(GeminiServer(), "good")["generationConfig"]["thinkingConfig"] ==
        Json({{"thinkingLevel", "HIGH"}, {"includeThoughts", true}}));
  request.effort = "none";
  Ask(config, request);
  CHECK(LastBody(GeminiServer(), "good")["generationConfig"]["thinkingConfig"] == Json({{"thinkingBudget", 0}}));

  config.model = "tunedModels/a b?c";
  config.base_url = config.base_url.substr(0, config.base_url.rfind('/'));  // without /v1beta
  Ask(config);
  CHECK(GeminiServer().RequestsOf("good").back()["path"] ==
        "/good/v1beta/tunedModels/a%20b%3Fc:streamGenerateContent?alt=sse");
}

TEST_CASE("how a Gemini answer may end", "[http]") {
  CHECK(Ask(GeminiModel("max_tokens")).finish_reason == "length");
  Completion safety = Ask(GeminiModel("safety"));
  CHECK(safety.ok());
  CHECK(safety.finish_reason == "refusal");
  CHECK_THAT(safety.text, Contains("SAFETY"));
  CHECK(Ask(GeminiModel("recitation")).finish_reason == "refusal");
  Completion blocked = Ask(GeminiModel("blocked"));
  CHECK(blocked.ok());
  CHECK(blocked.finish_reason == "refusal");
  CHECK_THAT(blocked.text, Contains("PROHIBITED_CONTENT"));
  CHECK(blocked.usage.input == 9);
  struct Row {
    const char* scenario;
    ErrorClass error;
    const char* said;
  };
  for (Row row : {Row{"other", ErrorClass::kMalformedReply, "it broke"},
                  {"malformed", ErrorClass::kMalformedReply, "MALFORMED_FUNCTION_CALL"},
                  {"no_end", ErrorClass::kCut, "finish_reason"},
                  {"nobody", ErrorClass::kCut, "finish_reason"}}) {
    INFO(row.scenario);
    ModelConfig config = GeminiModel(row.scenario);
    config.tries = 1;
    Completion completion = Ask(config);
    CHECK(Name(completion.error) == Name(row.error));
    CHECK_THAT(completion.message, Contains(row.said));
  }
}

TEST_CASE("Gemini failures", "[http]") {
  for (auto [scenario, least] :
       {std::pair("cut_once", 0.3), {"error_event", 0.3}, {"error_list_event", 0.6}, {"minute", 1.2}}) {
    INFO(scenario);
    Completion completion = Ask(GeminiModel(scenario));
    INFO(completion.message);
    CHECK(completion.ok());
    CHECK(completion.tries == 2);
    CHECK(completion.text == kAnswerText);
    CHECK(completion.seconds >= least);
  }
  Completion day = Ask(GeminiModel("day"));
  CHECK(day.error == ErrorClass::kQuota);
  CHECK(day.tries == 1);
  Completion patience = Ask(GeminiModel("long"));
  CHECK(patience.error == ErrorClass::kRateLimited);
  CHECK(patience.tries == 1);
  CHECK(patience.retry_after_seconds == 3600);
  ModelConfig config = GeminiModel("bad_key");
  config.api_key_env = "WARPSMITH_TEST_KEY";
  setenv("WARPSMITH_TEST_KEY", kGeminiKey, 1);
  Completion refused = Ask(config);
  CHECK(refused.error == ErrorClass::kAuthentication);
  CHECK_THAT(refused.message, Contains("[redacted]") && !Contains("AIza-tes"));
}

}  // namespace
}  // namespace warpsmith::gateway
