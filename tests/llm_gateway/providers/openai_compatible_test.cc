#include "llm_gateway/providers/openai_compatible.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "common/clock.h"
#include "llm_gateway/http/curl_transport.h"
#include "tests/llm_gateway/support/fake_model_server.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

constexpr char kKey[] = "sk-test-0123456789abcdefghijklmnop";

Json Status(int status, const Json& headers = Json::object(), const Json& body = "") {
  return {{"status", status}, {"headers", headers}, {"body", body}};
}
Json ErrorBody(const char* code, const char* type = "error") {
  return {{"error", {{"message", std::string("the server says ") + code}, {"type", type}, {"code", code}}}};
}

std::string HttpDate(int seconds_from_now) {
  char text[100];
  time_t instant = std::time(nullptr) + seconds_from_now;
  tm parts{};
  gmtime_r(&instant, &parts);
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text;
}

Json Scenarios() {
  const std::string text = "The answer, with \xC3\xA9 and \xF0\x9F\x98\x80 in it, long enough for several events.";
  const Json good = {{"reply", text}};
  auto then_good = [&](const Json& first) { return Json::array({first, good}); };
  auto with = [&](const Json& more) {
    Json action = good;
    action.update(more);
    return Json::array({action});
  };
  return {
      {"good", with(Json::object())},
      {"split1", with({{"split", 1}, {"crlf", true}, {"comments", true}})},
      {"split7", with({{"split", 7}, {"chunk", 3}})},
      {"whole", with({{"no_stream", true}, {"reasoning", "thought"}})},
      {"reasoning", with({{"reasoning", "I think about it"}})},
      {"reasoning_vllm", with({{"reasoning", "I think about it"}, {"reasoning_key", "reasoning"}})},
      {"length", with({{"finish_reason", "length"}})},
      {"filter", with({{"finish_reason", "content_filter"}})},
      {"no_done", with({{"no_done", true}})},
      {"no_finish", with({{"finish_reason", nullptr}})},
      {"no_finish_no_done", with({{"finish_reason", nullptr}, {"no_done", true}})},
      {"no_usage", with({{"usage", nullptr}})},
      {"usage", with({{"usage",
                       {{"prompt_tokens", 100},
                        {"completion_tokens", 50},
                        {"prompt_tokens_details", {{"cached_tokens", 60}}},
                        {"completion_tokens_details", {{"reasoning_tokens", 30}}}}}})},
      {"after_ms", then_good(Status(429, {{"retry-after-ms", "300"}}, ErrorBody("rate_limit_exceeded")))},
      {"after_seconds", then_good(Status(429, {{"Retry-After", "1"}}, ErrorBody("rate_limit_exceeded")))},
      {"after_date", then_good(Status(429, {{"Retry-After", "@date"}}, ErrorBody("rate_limit_exceeded")))},
      {"after_long", Json::array({Status(429, {{"Retry-After", "7200"}}, ErrorBody("rate_limit_exceeded"))})},
      {"after_nonsense", then_good(Status(429, {{"Retry-After", "later"}}, "not JSON <html>"))},
      {"quota",
       Json::array({Status(429, {{"Retry-After", "1"}}, ErrorBody("insufficient_quota", "insufficient_quota"))})},
      {"should_not", Json::array({Status(500, {{"x-should-retry", "false"}}, "")})},
      {"server_error", then_good(Status(500, Json::object(), ErrorBody("server_error")))},
      {"always_500", Json::array({Status(500, Json::object(), "")})},
      {"overloaded", then_good(Status(503))},
      {"bad_request", Json::array({Status(400, Json::object(), ErrorBody("invalid_value"))})},
      {"context", Json::array({Status(400, Json::object(), ErrorBody("context_length_exceeded"))})},
      {"gemini_error", Json::array({Status(400, Json::object(), Json::array({ErrorBody("bad")}))})},
      {"missing", Json::array({Status(404, Json::object(), ErrorBody("model_not_found"))})},
      {"moved", Json::array({Status(302, {{"Location", "http://127.0.0.1:1/"}})})},
      {"stall_first", with({{"delay_s", 30}})},
      {"stall_body", with({{"stall_s", 30}})},
      {"stall_mid", with({{"stall_after", 2}, {"stall_mid_s", 30}})},
      {"stall_once", then_good({{"reply", text}, {"stall_after", 2}, {"stall_mid_s", 30}})},
      {"cut", with({{"cut_after", 3}})},
      {"cut_once_more", then_good({{"reply", text}, {"cut_after", 3}})},
      {"cut_once", then_good({{"reply", text}, {"cut_after", 3}})},
      {"closed", Json::array({{{"close", true}}})},
      {"malformed", with({{"malformed", 2}})},
      {"stream_error", with({{"error_event", 2}})},
      {"short_length", with({{"no_stream", true}, {"content_length", 20}})},
      {"long_length", with({{"no_stream", true}, {"content_length", 100000}})},
      {"not_json", Json::array({Status(200, Json::object(), "<html>hello</html>")})},
      {"empty", Json::array({Status(200, Json::object(), "")})},
      {"huge", with({{"repeat_bytes", 3000000}, {"chunk", 100000}})},
      {"huge_event", with({{"repeat_bytes", 3000000}, {"chunk", 3000000}})},
      {"gzip", with({{"gzip", true}})},
      {"slow", with({{"slow_s", 0.05}})},
  };
}

FakeModelServer& Server() {
  static FakeModelServer server([] {
    Json scenarios = Scenarios();
    scenarios["after_date"][0]["headers"]["Retry-After"] = HttpDate(2);
    return scenarios;
  }());
  return server;
}

ModelConfig ConfigFor(const std::string& scenario) {
  ModelConfig config;
  config.name = "m";
  config.provider = "openai_compatible";
  config.place = "g.yaml:2: models[0]";
  config.base_url = Server().BaseUrl(scenario);
  config.model = "fake-model";
  config.first_byte_seconds = 10;
  config.idle_seconds = 10;
  config.total_seconds = 30;
  return config;
}

Completion Run(const ModelConfig& config, const Secret& key = {}, Cancellation* cancellation = nullptr,
               const DeltaCallback& on_delta = nullptr) {
  static CurlTransport transport;
  Cancellation own;
  PromptRequest request;
  request.messages = {{"system", "contract"}, {"user", "question"}};
  request.max_output_tokens = 1000;
  OpenAiCompatible model(config, key, transport, RealClock(), [] { return 0.5; });
  return model.Complete(request, on_delta, cancellation != nullptr ? *cancellation : own);
}
Completion Run(const std::string& scenario) { return Run(ConfigFor(scenario)); }

const char kText[] = "The answer, with \xC3\xA9 and \xF0\x9F\x98\x80 in it, long enough for several events.";

TEST_CASE("streams in any shape give the same text", "[http]") {
  for (const char* scenario : {"good", "split1", "split7", "whole", "reasoning", "reasoning_vllm", "no_done",
                               "no_finish", "no_usage", "slow"}) {
    INFO(scenario);
    Completion completion = Run(scenario);
    INFO(completion.message);
    CHECK(completion.ok());
    CHECK(completion.text == kText);
    CHECK(completion.finish_reason == "stop");
    CHECK(completion.tries == 1);
    CHECK(completion.first_byte_seconds > 0);
    CHECK(completion.seconds >= completion.first_byte_seconds);
  }
  CHECK(Run("reasoning").reasoning == "I think about it");
  CHECK(Run("reasoning_vllm").reasoning == "I think about it");
  CHECK(Run("whole").reasoning == "thought");
  CHECK(Run("length").finish_reason == "length");
  CHECK(Run("length").text == kText);
  CHECK(Run("filter").finish_reason == "refusal");
}

TEST_CASE("the request is as the API wants it", "[http]") {
  ModelConfig config = ConfigFor("good");
  config.temperature = 0.5;
  config.reasoning_effort = "high";
  config.max_output_tokens = 600;
  config.extra_body = {{"top_k", 5}};
  setenv("WARPSMITH_TEST_KEY", kKey, 1);
  Run(config, Secret::FromEnvironment("WARPSMITH_TEST_KEY").value());
  Json request = Server().RequestsOf("good").back();
  CHECK(request["path"] == "/good/v1/chat/completions");
  CHECK(request["headers"]["authorization"] == std::string("Bearer ") + kKey);
  CHECK(request["headers"]["accept-encoding"] == "identity");
  CHECK(request["body"] ==
        Json({{"model", "fake-model"},
              {"stream", true},
              {"stream_options", {{"include_usage", true}}},
              {"temperature", 0.5},
              {"reasoning_effort", "high"},
              {"max_completion_tokens", 600},
              {"top_k", 5},
              {"messages",
               {{{"role", "system"}, {"content", "contract"}}, {{"role", "user"}, {"content", "question"}}}}}));
  Run(ConfigFor("good"));
  CHECK_FALSE(Server().RequestsOf("good").back()["headers"].contains("authorization"));
}

TEST_CASE("tokens are told apart", "[http]") {
  TokenUsage usage = Run("usage").usage;
  CHECK(usage.input == 100);
  CHECK(usage.cached_input == 60);
  CHECK(usage.reasoning == 30);
  CHECK(usage.output == 20);
}

TEST_CASE("text arrives as it is written", "[http]") {
  std::string text, reasoning;
  Run(ConfigFor("reasoning"), {}, nullptr,
      [&](DeltaKind kind, std::string_view piece) { (kind == DeltaKind::kText ? text : reasoning).append(piece); });
  CHECK(text == kText);
  CHECK(reasoning == "I think about it");
  int restarts = 0;
  text.clear();
  Run(ConfigFor("cut_once"), {}, nullptr, [&](DeltaKind kind, std::string_view piece) {
    if (kind == DeltaKind::kRestart) ++restarts, text.clear();
    text.append(piece);
  });
  CHECK(restarts == 1);
  CHECK(text == kText);
}

TEST_CASE("a server's wish to wait is honoured in each form", "[http]") {
  struct Row {
    const char* scenario;
    double least;
  };
  for (Row row : {Row{"after_ms", 0.3},
                  {"after_seconds", 1.0},
                  {"after_date", 0.0},
                  {"after_nonsense", 0.3},
                  {"server_error", 0.3},
                  {"overloaded", 0.3},
                  {"cut_once_more", 0.3}}) {
    INFO(row.scenario);
    Completion completion = Run(row.scenario);
    INFO(completion.message);
    CHECK(completion.ok());
    CHECK(completion.text == kText);
    CHECK(completion.tries == 2);
    CHECK(completion.seconds >= row.least);
    CHECK(completion.seconds < row.least + 5);
  }
}

TEST_CASE("failures: their class, their tries, and what to do", "[http]") {
  struct Row {
    const char* scenario;
    ErrorClass error;
    int tries;
    const char* said;
  };
  for (Row row : {Row{"after_long", ErrorClass::kRateLimited, 1, "rate_limit_exceeded"},
                  {"quota", ErrorClass::kQuota, 1, "quota"},
                  {"should_not", ErrorClass::kServer, 1, "HTTP 500"},
                  {"bad_request", ErrorClass::kInvalidRequest, 1, "the server says invalid_value"},
                  {"gemini_error", ErrorClass::kInvalidRequest, 1, "the server says bad"},
                  {"context", ErrorClass::kContextLength, 1, "context_length_exceeded"},
                  {"missing", ErrorClass::kNotFound, 1, "models[0].model"},
                  {"moved", ErrorClass::kRedirect, 1, "redirects are not followed"},
                  {"cut", ErrorClass::kCut, 2, "2 tries"},
                  {"no_finish_no_done", ErrorClass::kCut, 2, "no finish_reason"},
                  {"closed", ErrorClass::kCut, 2, "2 tries"},
                  {"malformed", ErrorClass::kMalformedReply, 2, "not a JSON object"},
                  {"stream_error", ErrorClass::kServer, 2, "the fake model broke"},
                  {"always_500", ErrorClass::kServer, 2, "HTTP 500"},
                  {"short_length", ErrorClass::kMalformedReply, 1, "neither"},
                  {"long_length", ErrorClass::kCut, 2, ""},
                  {"not_json", ErrorClass::kMalformedReply, 2, "neither"},
                  {"empty", ErrorClass::kMalformedReply, 2, "neither"},
                  {"huge_event", ErrorClass::kTooLarge, 1, "1048576"},
                  {"gzip", ErrorClass::kMalformedReply, 2, "compressed"}}) {
    INFO(row.scenario);
    ModelConfig config = ConfigFor(row.scenario);
    config.tries = std::min(2, row.tries + (row.error == ErrorClass::kMalformedReply ? 0 : 1));
    size_t before = Server().RequestsOf(row.scenario).size();
    Completion completion = Run(config);
    INFO(completion.message);
    CHECK(Name(completion.error) == Name(row.error));
    CHECK(completion.tries == row.tries);
    // libcurl sends again by itself where a connection that it kept open turns out to be closed.
    size_t sent = 0, tries = static_cast<size_t>(row.tries);
    // The server may see the end of a cut exchange later than we do.
    for (int wait = 0; wait < 100 && sent < tries; ++wait) {
      if (wait > 0) RealClock().SleepFor(std::chrono::milliseconds(20));
      sent = Server().RequestsOf(row.scenario).size() - before;
    }
    if (std::string(row.scenario) == "closed") {
      CHECK(sent >= tries);
    } else if (std::string(row.scenario) == "long_length") {
      // The row before left bytes too many on a kept connection; a first try that meets them never reaches the server.
      CHECK(sent + 1 >= tries);
      CHECK(sent <= tries);
    } else {
      CHECK(sent == tries);
    }
    CHECK(completion.finish_reason == "error");
    CHECK_THAT(completion.message, Contains(row.said) && Contains("m: http://127.0.0.1"));
  }
}

TEST_CASE("a reply over the cap", "[http]") {
  ModelConfig config = ConfigFor("huge");
  config.max_response_bytes = 1 << 20;
  Completion completion = Run(config);
  CHECK(completion.error == ErrorClass::kTooLarge);
  CHECK(completion.tries == 1);
  CHECK_THAT(completion.message, Contains("max_response_bytes"));
  config.max_response_bytes = 16 << 20;
  CHECK(Run(config).text.size() == 3000000);
}

TEST_CASE("stalls end at their own deadline", "[http]") {
  struct Row {
    const char* scenario;
    ErrorClass error;
    const char* field;
  };
  for (Row row : {Row{"stall_first", ErrorClass::kFirstByteTimeout, "first_byte_seconds"},
                  {"stall_body", ErrorClass::kFirstByteTimeout, "first_byte_seconds"},
                  {"stall_mid", ErrorClass::kIdleTimeout, "idle_seconds"}}) {
    INFO(row.scenario);
    ModelConfig config = ConfigFor(row.scenario);
    config.first_byte_seconds = 0.3;
    config.idle_seconds = 0.3;
    config.tries = 1;
    Completion completion = Run(config);
    CHECK(Name(completion.error) == Name(row.error));
    CHECK_THAT(completion.message, Contains(row.field));
    CHECK(completion.seconds < 5);
  }
  ModelConfig once = ConfigFor("stall_once");
  once.idle_seconds = 0.3;
  CHECK(Run(once).text == kText);
  ModelConfig total = ConfigFor("always_500");
  total.total_seconds = 1.2;
  total.tries = 20;
  Completion completion = Run(total);
  CHECK(completion.error == ErrorClass::kServer);
  CHECK(completion.seconds < 1.3);
  CHECK_THAT(completion.message, Contains("total deadline"));
  ModelConfig slow = ConfigFor("stall_mid");
  slow.total_seconds = 0.4;
  CHECK(Run(slow).error == ErrorClass::kTotalTimeout);
}

TEST_CASE("nobody there", "[http]") {
  ModelConfig config = ConfigFor("good");
  config.base_url = "http://127.0.0.1:1/v1";
  config.tries = 2;
  Completion completion = Run(config);
  CHECK(completion.error == ErrorClass::kConnect);
  CHECK(completion.tries == 2);
  CHECK_THAT(completion.message, Contains("models[0].base_url"));
}

TEST_CASE("a refused key is named by its place, never by its value", "[http]") {
  FakeModelServer strict(Json::object(), {"--key", "sk-the-right-key-0000000000"});
  ModelConfig config = ConfigFor("good");
  config.base_url = strict.BaseUrl("any");
  config.api_key_env = "WARPSMITH_TEST_KEY";
  setenv("WARPSMITH_TEST_KEY", kKey, 1);
  Completion completion = Run(config, KeyOf(config).value());
  CHECK(completion.error == ErrorClass::kAuthentication);
  CHECK(completion.tries == 1);
  CHECK_THAT(completion.message, Contains("HTTP 401") && Contains("WARPSMITH_TEST_KEY") &&
                                     Contains("models[0].api_key_env") && Contains("[redacted]") &&
                                     !Contains("sk-test"));
  setenv("WARPSMITH_TEST_KEY", "sk-the-right-key-0000000000", 1);
  CHECK_THAT(Run(config, KeyOf(config).value()).text, Contains("no file"));
  config.api_key_env.clear();
  CHECK_THAT(Run(config).message, Contains("no key is configured"));
}

TEST_CASE("cancellation ends a call in any of its phases", "[http]") {
  for (const char* scenario : {"stall_first", "stall_body", "stall_mid", "after_wait"}) {
    INFO(scenario);
    Cancellation cancellation;
    std::thread canceller([&] {
      RealClock().SleepFor(std::chrono::milliseconds(250));
      cancellation.Cancel();
    });
    ModelConfig config = ConfigFor(scenario);
    if (std::string(scenario) == "after_wait") {  // waiting between two tries
      config.base_url = "http://127.0.0.1:1/v1";
      config.tries = 20;
    }
    Completion completion = Run(config, {}, &cancellation);
    canceller.join();
    CHECK(completion.error == ErrorClass::kCancelled);
    CHECK(completion.seconds < 3);
  }
}

}  // namespace
}  // namespace warpsmith::gateway
