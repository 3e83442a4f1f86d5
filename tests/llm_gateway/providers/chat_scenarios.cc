#include "tests/llm_gateway/providers/chat_scenarios.h"

#include <ctime>

namespace warpsmith::gateway {
namespace {

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
  const std::string text = kChatText;
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
      {"cut_again", then_good({{"reply", text}, {"cut_after", 3}})},
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
      {"usage_beside", with({{"usage", {{"prompt_tokens", 100}, {"completion_tokens", 50}, {"total_tokens", 180}}}})},
      {"strange_end", with({{"finish_reason", "because"}})},
      {"limits", with({{"headers",
                        {{"x-ratelimit-limit-requests", "500"},
                         {"x-ratelimit-remaining-requests", "499"},
                         {"x-ratelimit-limit-tokens", "30000"},
                         {"x-ratelimit-remaining-tokens", "29000"}}}})},
      {"reset", then_good(Status(429, {{"x-ratelimit-remaining-tokens", "0"}, {"x-ratelimit-reset-tokens", "700ms"}},
                                 ErrorBody("rate_limit_exceeded")))},
      {"latest", Json::array({Status(429, {{"retry-after-ms", "1"}}, ErrorBody("rate_limit_exceeded")),
                              Status(503, {{"retry-after-ms", "900"}}, ErrorBody("overloaded")), good})},
      {"filtered", Json::array({Status(400, Json::object(), ErrorBody("content_filter"))})},
  };
}

}  // namespace

FakeModelServer& ChatServer() {
  static FakeModelServer server([] {
    Json scenarios = Scenarios();
    scenarios["after_date"][0]["headers"]["Retry-After"] = HttpDate(2);
    return scenarios;
  }());
  return server;
}

ModelConfig ChatModel(const std::string& scenario) {
  return TestModel("openai_compatible", ChatServer().BaseUrl(scenario));
}

Completion RunChat(const ModelConfig& config, const DeltaCallback& on_delta) {
  PromptRequest request = TestPrompt();
  request.max_output_tokens = 600;
  return Ask(config, request, nullptr, on_delta);
}
Completion RunChat(const std::string& scenario) { return RunChat(ChatModel(scenario)); }

}  // namespace warpsmith::gateway
