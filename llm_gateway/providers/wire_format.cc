#include "llm_gateway/providers/wire_format.h"

#include "llm_gateway/providers/anthropic.h"
#include "llm_gateway/providers/gemini.h"
#include "llm_gateway/providers/openai_chat.h"
#include "llm_gateway/providers/openai_responses.h"

namespace warpsmith::gateway {

std::pair<std::string, std::string> WireFormat::KeyHeader(const Secret& key) const {
  return {"Authorization", "Bearer " + key.Reveal()};
}

std::unique_ptr<WireFormat> MakeWireFormat(const ModelConfig& config) {
  if (config.provider == "openai") return std::make_unique<OpenAiResponses>(config.background);
  if (config.provider == "anthropic") return std::make_unique<Anthropic>();
  if (config.provider == "gemini") return std::make_unique<Gemini>();
  if (config.provider == "openai_compatible") return std::make_unique<OpenAiChat>(config.key_header == "api-key");
  return nullptr;
}

std::string EffortOf(const PromptRequest& request, const ModelConfig& config) {
  return request.effort.empty() ? config.reasoning_effort : request.effort;
}

int64_t MaxTokensOf(const PromptRequest& request, const ModelConfig& config) {
  return request.max_output_tokens > 0 ? request.max_output_tokens : config.max_output_tokens;
}

bool WantsSchema(const PromptRequest& request, const ModelConfig& config) {
  return config.structured_output && request.schema.is_object();
}

Json& ObjectAt(Json& body, const char* key) {
  Json& member = body[key];
  if (!member.is_object()) member = Json::object();
  return member;
}

}  // namespace warpsmith::gateway
