// A fake server of chat completions with every way in which it can behave, one scenario each.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_CHAT_SCENARIOS_H_
#define WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_CHAT_SCENARIOS_H_

#include <string>

#include "tests/llm_gateway/providers/model_testing.h"
#include "tests/llm_gateway/support/fake_model_server.h"

namespace warpsmith::gateway {

// What the good ones answer.
inline const char kChatText[] = "The answer, with \xC3\xA9 and \xF0\x9F\x98\x80 in it, long enough for several events.";

FakeModelServer& ChatServer();
ModelConfig ChatModel(const std::string& scenario);
Completion RunChat(const ModelConfig& config, const DeltaCallback& on_delta = nullptr);
Completion RunChat(const std::string& scenario);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_CHAT_SCENARIOS_H_
