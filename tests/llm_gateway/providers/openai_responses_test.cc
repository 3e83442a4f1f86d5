#include "llm_gateway/providers/openai_responses.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

#include "tests/llm_gateway/providers/model_testing.h"
#include "tests/llm_gateway/providers/scripted_answers.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

FakeProviderServer& ResponsesServer() {
  static FakeProviderServer server([] {
    const Json good = {{"text", kAnswerText}, {"chunk", 10}, {"usage", {{"input_tokens", 7}, {"output_tokens", 8}}}};
    auto with = [&](const Json& more) {
      Json action = good;
      action.update(more);
      return action;
    };
    auto one = [&](const Json& more) { return Json::array({with(more)}); };
    const Json cut = with({{"cut_after", 5}});
    const Json gone = {{"status", 404}, {"body", {{"error", {{"message", "no response"}, {"code", "not_found"}}}}}};
    const Json busy = {{"status_now", "in_progress"}};
    const Json stream_error = {
        {"type", "error"}, {"code", "server_error"}, {"message", "it broke"}, {"sequence_number", 4}};
    return Json{
        {"good", one({{"thinking", "hm, hm"},
                      {"usage",
                       {{"input_tokens", 100},
                        {"input_tokens_details", {{"cached_tokens", 60}, {"cache_write_tokens", 10}}},
                        {"output_tokens", 50},
                        {"output_tokens_details", {{"reasoning_tokens", 30}}}}}})},
        {"whole", one({{"whole", true}, {"thinking", "hm, hm"}})},
        {"length", one({{"finish", "incomplete"}, {"reason", "max_output_tokens"}})},
        {"filter", one({{"finish", "incomplete"}, {"reason", "content_filter"}})},
        {"refusal", one({{"text", ""}, {"refusal", "I must not"}})},
        {"failed",
         Json::array(
             {with({{"finish", "failed"}, {"error", {{"code", "server_error"}, {"message", "it broke"}}}}), good})},
        {"failed_limit",
         one({{"finish", "failed"}, {"error", {{"code", "insufficient_quota"}, {"message", "nothing left"}}}})},
        {"flagged", one({{"finish", "failed"}, {"error", {{"code", "invalid_prompt"}, {"message", "flagged"}}}})},
        {"error_event", Json::array({with({{"insert", {{"after", 4}, {"event", stream_error}}}}), good})},
        {"no_end", one({{"finish", nullptr}})},
        {"cut_once", Json::array({cut, good})},
        {"lingers", one({{"linger_s", 60}})},
        {"silent", one({{"stall_after", 2}, {"stall_s", 1.0}})},
        {"stalls", one({{"stall_after", 5}})},
        {"dead", one({{"stall_after", 2}})},
        // In the background: POST, then GETs.
        {"resumes", Json::array({cut, good})},
        {"resumes_twice", Json::array({cut, with({{"cut_after", 2}}), good})},
        {"polls", Json::array({cut,
                               {{"status", 400}, {"body", {{"error", {{"message", "cannot be streamed"}}}}}},
                               busy,
                               with({{"status_now", "completed"}})})},
        {"polls_failed",
         Json::array(
             {cut, gone, {{"status_now", "failed"}, {"error", {{"code", "x"}, {"message", "it broke"}}}}, good})},
        {"polls_short",
         Json::array({cut, gone, with({{"status_now", "incomplete"}, {"reason", "max_output_tokens"}})})},
        {"busy_get", Json::array({cut, {{"status", 503}, {"headers", {{"retry-after-ms", "100"}}}}, good})},
        {"gone", Json::array({cut, gone, gone, good})},
        {"rewritten", Json::array({with({{"text", "Something else that was cut"}, {"cut_after", 6}}), gone,
                                   with({{"status_now", "completed"}})})},
        {"waits", Json::array({with({{"stall_after", 5}}), busy})},
        {"over_time", Json::array({cut, gone, busy})},
        {"bad_id", Json::array({with({{"id", "../../secret"}, {"cut_after", 5}}), good})},
        {"plain", Json::array({with({{"stall_after", 5}})})},
        {"limited", Json::array({{{"status", 429},
                                  {"headers", {{"x-ratelimit-reset-requests", "600ms"}}},
                                  {"body", {{"error", {{"message", "slow"}, {"code", "rate_limit_exceeded"}}}}}},
                                 good})},
    };
  }());
  return server;
}

ModelConfig ResponsesModel(const std::string& scenario, bool background = false) {
  ModelConfig config = TestModel("openai", ResponsesServer().BaseUrl(scenario));
  config.background = background;
  return config;
}

// "POST responses", "GET responses/resp_1?stream=true&starting_after=4", ...
std::vector<std::string> Sent(const std::string& scenario) {
  std::vector<std::string> sent;
  for (const Json& request : ResponsesServer().RequestsOf(scenario)) {
    std::string path = request["path"].get<std::string>();
    sent.push_back(request["method"].get<std::string>() + " " + path.substr(scenario.size() + 5));
  }
  return sent;
}

// What a reader of deltas has at the end.
struct Reader {
  std::string text;
  int restarts = 0;
  DeltaCallback callback() {
    return [this](DeltaKind kind, std::string_view piece) {
      if (kind == DeltaKind::kRestart) ++restarts, text.clear();
      if (kind == DeltaKind::kText) text.append(piece);
    };
  }
};

TEST_CASE("a Responses stream: text, reasoning, tokens by OpenAI's rule", "[http]") {
  Reader reader;
  Completion completion = Ask(ResponsesModel("good"), TestPrompt(), nullptr, reader.callback());
  INFO(completion.message);
  CHECK(completion.ok());
  CHECK(completion.text == kAnswerText);
  CHECK(reader.text == kAnswerText);
  CHECK(reader.restarts == 0);
  CHECK(completion.reasoning == "hm, hm");
  CHECK(completion.finish_reason == "stop");
  CHECK(completion.usage.input == 100);
  CHECK(completion.usage.cached_input == 60);
  CHECK(completion.usage.cache_write_5m == 10);
  CHECK(completion.usage.output == 20);
  CHECK(completion.usage.reasoning == 30);
  completion = Ask(ResponsesModel("whole"));
  CHECK(completion.text == kAnswerText);
  CHECK(completion.reasoning == "hm, hm");
}

TEST_CASE("a Responses request", "[http]") {
  ModelConfig config = ResponsesModel("good");
  config.api_key_env = "WARPSMITH_TEST_KEY";
  config.temperature = 0.5;
  setenv("WARPSMITH_TEST_KEY", kTestKey, 1);
  Ask(config);
  Json sent = ResponsesServer().RequestsOf("good").back();
  CHECK(sent["path"] == "/good/v1/responses");
  CHECK(sent["headers"]["authorization"] == std::string("Bearer ") + kTestKey);
  CHECK(sent["body"] == Json({{"model", "fake-model"},
                              {"stream", true},
                              {"store", false},
                              {"temperature", 0.5},
                              {"instructions", "contract"},
                              {"input", Json::array({{{"role", "user"}, {"content", "question"}}})}}));
  config.model = "gpt-5-mini";
  config.reasoning_effort = "low";
  config.max_output_tokens = 900;
  config.extra_body = {{"text", {{"verbosity", "low"}}}, {"reasoning", {{"summary", "auto"}}}, {"store", true}};
  PromptRequest request = TestPrompt();
  request.schema_name = "ideas";
  request.schema = {{"type", "object"}};
  request.effort = "xhigh";
  CHECK(Ask(config, request).effort == "xhigh");
  Json body = LastBody(ResponsesServer(), "good");
  CHECK_FALSE(body.contains("temperature"));
  CHECK(body["store"] == true);
  CHECK(body["max_output_tokens"] == 900);
  CHECK(body["reasoning"] == Json({{"effort", "xhigh"}, {"summary", "auto"}}));
  CHECK(body["text"] ==
        Json({{"verbosity", "low"},
              {"format",
               {{"type", "json_schema"}, {"name", "ideas"}, {"schema", {{"type", "object"}}}, {"strict", true}}}}));
  config.background = true;
  Ask(config);
  body = LastBody(ResponsesServer(), "good");
  CHECK(body["background"] == true);
  CHECK(body["store"] == true);
  CHECK(body["stream"] == true);
}

TEST_CASE("how a Responses answer may end", "[http]") {
  Completion completion = Ask(ResponsesModel("length"));
  CHECK(completion.finish_reason == "length");
  CHECK(completion.text == kAnswerText);
  CHECK(completion.usage.output == 8);
  CHECK(Ask(ResponsesModel("filter")).finish_reason == "refusal");
  completion = Ask(ResponsesModel("refusal"));
  CHECK(completion.ok());
  CHECK(completion.finish_reason == "refusal");
  CHECK(completion.text == "I must not");
  CHECK(Ask(ResponsesModel("flagged")).finish_reason == "refusal");
  completion = Ask(ResponsesModel("failed_limit"));
  CHECK(completion.error == ErrorClass::kQuota);
  CHECK(completion.tries == 1);
  CHECK(completion.usage.input == 7);  // reported, so billed
  ModelConfig once = ResponsesModel("no_end");
  once.tries = 1;
  CHECK(Ask(once).error == ErrorClass::kCut);
  for (const char* scenario : {"failed", "error_event", "cut_once", "limited"}) {
    INFO(scenario);
    Reader reader;
    completion = Ask(ResponsesModel(scenario), TestPrompt(), nullptr, reader.callback());
    INFO(completion.message);
    CHECK(completion.ok());
    CHECK(completion.tries == 2);
    CHECK(completion.text == kAnswerText);
    CHECK(reader.text == kAnswerText);
    CHECK(reader.restarts == 1);
    CHECK(completion.usage.input == (scenario == std::string("failed") ? 14 : 7));  // both tries were billed
  }
}

TEST_CASE("silence before the first word, after it, and after the last", "[http]") {
  ModelConfig config = ResponsesModel("silent");
  config.idle_seconds = 0.3;  // a second of thought behind the first signs of life is no stall
  CHECK(Ask(config).text == kAnswerText);
  config = ResponsesModel("stalls");
  config.idle_seconds = 0.3;
  config.tries = 1;
  Completion completion = Ask(config);
  CHECK(completion.error == ErrorClass::kIdleTimeout);
  CHECK_THAT(completion.message, Contains("stalled for 0.3 s") && Contains("models[0].idle_seconds"));
  CHECK(completion.text.empty());
  config = ResponsesModel("dead");
  config.first_byte_seconds = 0.4;
  config.idle_seconds = 0.1;
  config.tries = 1;
  completion = Ask(config);
  CHECK(completion.error == ErrorClass::kFirstByteTimeout);
  CHECK_THAT(completion.message, Contains("models[0].first_byte_seconds"));
  completion = Ask(ResponsesModel("lingers"));  // a connection that is not closed after the end
  CHECK(completion.text == kAnswerText);
  CHECK(completion.seconds < 9);
}

TEST_CASE("an answer in the background is read on after a cut, not asked for again", "[http]") {
  for (const char* scenario : {"resumes", "resumes_twice", "busy_get"}) {
    INFO(scenario);
    Reader reader;
    Completion completion = Ask(ResponsesModel(scenario, true), TestPrompt(), nullptr, reader.callback());
    INFO(completion.message);
    CHECK(completion.ok());
    CHECK(completion.tries == 1);
    CHECK(completion.text == kAnswerText);
    CHECK(reader.text == kAnswerText);
    CHECK(reader.restarts == 0);
    CHECK(completion.usage.input == 7);
    CHECK(completion.unreported_tries == 0);
  }
  CHECK(Sent("resumes") ==
        std::vector<std::string>{"POST responses", "GET responses/resp_1?stream=true&starting_after=4"});
  CHECK(Sent("resumes_twice").back() == "GET responses/resp_1?stream=true&starting_after=6");
}

TEST_CASE("an answer in the background is polled for where it is not streamed again", "[http]") {
  Reader reader;
  Completion completion = Ask(ResponsesModel("polls", true), TestPrompt(), nullptr, reader.callback());
  INFO(completion.message);
  CHECK(completion.ok());
  CHECK(completion.tries == 1);
  CHECK(completion.text == kAnswerText);
  CHECK(reader.text == kAnswerText);
  CHECK(reader.restarts == 0);
  CHECK(Sent("polls") == std::vector<std::string>{"POST responses", "GET responses/resp_1?stream=true&starting_after=4",
                                                  "GET responses/resp_1", "GET responses/resp_1"});
  completion = Ask(ResponsesModel("polls_short", true));
  CHECK(completion.finish_reason == "length");
  Reader other;
  completion = Ask(ResponsesModel("rewritten", true), TestPrompt(), nullptr, other.callback());
  CHECK(completion.text == kAnswerText);
  CHECK(other.text == kAnswerText);
  CHECK(other.restarts == 1);
  completion = Ask(ResponsesModel("polls_failed", true));  // it failed at the server: a new try
  CHECK(completion.ok());
  CHECK(completion.tries == 2);
}

TEST_CASE("an answer in the background that is gone is asked for again", "[http]") {
  Completion completion = Ask(ResponsesModel("gone", true));
  INFO(completion.message);
  CHECK(completion.ok());
  CHECK(completion.tries == 2);
  CHECK(completion.unreported_tries == 1);
  ModelConfig once = ResponsesModel("bad_id", true);
  completion = Ask(once);
  CHECK(completion.tries == 2);  // an id that cannot stand in a path is none
  CHECK(Sent("bad_id") == std::vector<std::string>{"POST responses", "POST responses"});
}

TEST_CASE("nobody waits any more: the background is told, a plain stream is closed", "[http]") {
  for (const char* scenario : {"waits", "plain"}) {
    INFO(scenario);
    const bool background = scenario == std::string("waits");
    Cancellation cancellation;
    bool begun = false;
    std::thread canceller;
    Completion completion =
        Ask(ResponsesModel(scenario, background), TestPrompt(), &cancellation, [&](DeltaKind, std::string_view) {
          if (begun) return;
          begun = true;
          canceller = std::thread([&] { cancellation.Cancel(); });
        });
    REQUIRE(canceller.joinable());
    canceller.join();
    CHECK(completion.error == ErrorClass::kCancelled);
    CHECK(completion.seconds < 5);
    std::vector<std::string> expected = {"POST responses"};
    if (background) expected.push_back("POST responses/resp_1/cancel");
    CHECK(Sent(scenario) == expected);
    bool closed = false;
    for (int i = 0; i < 200 && !closed; ++i) {
      closed = ResponsesServer().RequestsOf(scenario)[0]["closed_early"].get<bool>();
      if (!closed) RealClock().SleepFor(std::chrono::milliseconds(20));
    }
    CHECK(closed);
  }
  ModelConfig config = ResponsesModel("over_time", true);
  config.total_seconds = 1.5;
  Completion completion = Ask(config);
  CHECK(completion.error == ErrorClass::kTotalTimeout);
  CHECK_THAT(completion.message, Contains("models[0].total_seconds"));
  CHECK(completion.seconds < 4);
  CHECK(Sent("over_time").back() == "POST responses/resp_1/cancel");
}

}  // namespace
}  // namespace warpsmith::gateway
