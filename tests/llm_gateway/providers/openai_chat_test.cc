#include "llm_gateway/providers/openai_chat.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/llm_gateway/providers/chat_scenarios.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("streams in any shape give the same text", "[http]") {
  for (const char* scenario : {"good", "split1", "split7", "whole", "reasoning", "reasoning_vllm", "no_done",
                               "no_finish", "no_usage", "slow"}) {
    INFO(scenario);
    Completion completion = RunChat(scenario);
    INFO(completion.message);
    CHECK(completion.ok());
    CHECK(completion.text == kChatText);
    CHECK(completion.finish_reason == "stop");
    CHECK(completion.tries == 1);
    CHECK(completion.first_byte_seconds > 0);
    CHECK(completion.seconds >= completion.first_byte_seconds);
  }
  CHECK(RunChat("reasoning").reasoning == "I think about it");
  CHECK(RunChat("reasoning_vllm").reasoning == "I think about it");
  CHECK(RunChat("whole").reasoning == "thought");
  CHECK(RunChat("length").finish_reason == "length");
  CHECK(RunChat("length").text == kChatText);
  CHECK(RunChat("filter").finish_reason == "refusal");
}

TEST_CASE("the request is as the API wants it", "[http]") {
  ModelConfig config = ChatModel("good");
  config.temperature = 0.5;
  config.reasoning_effort = "high";
  config.max_output_tokens = 900;
  config.extra_body = {{"top_k", 5}};
  config.api_key_env = "WARPSMITH_TEST_KEY";
  setenv("WARPSMITH_TEST_KEY", kTestKey, 1);
  CHECK(RunChat(config).effort == "high");
  Json request = ChatServer().RequestsOf("good").back();
  CHECK(request["path"] == "/good/v1/chat/completions");
  CHECK(request["headers"]["authorization"] == std::string("Bearer ") + kTestKey);
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
  RunChat(ChatModel("good"));
  CHECK_FALSE(ChatServer().RequestsOf("good").back()["headers"].contains("authorization"));

  config.key_header = "api-key";
  RunChat(config);
  request = ChatServer().RequestsOf("good").back();
  CHECK(request["headers"]["api-key"] == kTestKey);
  CHECK_FALSE(request["headers"].contains("authorization"));

  PromptRequest wanted = TestPrompt();
  wanted.schema_name = "ideas";
  wanted.schema = {{"type", "object"}};
  wanted.effort = "low";
  CHECK(Ask(config, wanted).effort == "low");
  Json body = ChatServer().RequestsOf("good").back()["body"];
  CHECK(body["response_format"] ==
        Json({{"type", "json_schema"},
              {"json_schema", {{"name", "ideas"}, {"schema", {{"type", "object"}}}, {"strict", true}}}}));
  CHECK(body["reasoning_effort"] == "low");
  CHECK(body["max_completion_tokens"] == 900);
  config.structured_output = false;
  config.max_tokens_field = "max_tokens";
  Ask(config, wanted);
  body = ChatServer().RequestsOf("good").back()["body"];
  CHECK_FALSE(body.contains("response_format"));
  CHECK(body["max_tokens"] == 900);
}

TEST_CASE("tokens are told apart", "[http]") {
  TokenUsage usage = RunChat("usage").usage;
  CHECK(usage.input == 100);
  CHECK(usage.cached_input == 60);
  CHECK(usage.reasoning == 30);
  CHECK(usage.output == 20);
  usage = RunChat("usage_beside").usage;  // servers whose total tells that reasoning stands beside the completion
  CHECK(usage.output == 50);
  CHECK(usage.reasoning == 30);
}

TEST_CASE("what a server says about its limits is handed on", "[http]") {
  ServerLimits limits = RunChat("limits").server_limits;
  CHECK(limits.limit_requests == 500);
  CHECK(limits.remaining_requests == 499);
  CHECK(limits.limit_tokens == 30000);
  CHECK(limits.remaining_tokens == 29000);
  CHECK(RunChat("good").server_limits.limit_tokens == -1);
}

TEST_CASE("a prompt turned down by its status is a refusal, not a failure", "[http]") {
  Completion completion = RunChat("filtered");
  CHECK(completion.ok());
  CHECK(completion.finish_reason == "refusal");
  CHECK_THAT(completion.text, Contains("the server says content_filter"));
}

TEST_CASE("text arrives as it is written", "[http]") {
  std::string text, reasoning;
  RunChat(ChatModel("reasoning"),
          [&](DeltaKind kind, std::string_view piece) { (kind == DeltaKind::kText ? text : reasoning).append(piece); });
  CHECK(text == kChatText);
  CHECK(reasoning == "I think about it");
  int restarts = 0;
  text.clear();
  RunChat(ChatModel("cut_once"), [&](DeltaKind kind, std::string_view piece) {
    if (kind == DeltaKind::kRestart) ++restarts, text.clear();
    text.append(piece);
  });
  CHECK(restarts == 1);
  CHECK(text == kChatText);
}

}  // namespace
}  // namespace warpsmith::gateway
