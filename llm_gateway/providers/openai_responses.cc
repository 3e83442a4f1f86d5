#include "llm_gateway/providers/openai_responses.h"

#include "llm_gateway/providers/responses_reply.h"

namespace warpsmith::gateway {
namespace {

// Reasoning models take no temperature.
bool TakesTemperature(const std::string& model) {
  for (const char* prefix : {"o1", "o3", "o4", "gpt-5"}) {
    if (model.rfind(prefix, 0) == 0) return false;
  }
  return true;
}

}  // namespace

HttpRequestParts OpenAiResponses::Build(const PromptRequest& request, const ModelConfig& config) const {
  Json body = config.extra_body;
  body["model"] = config.model;
  body["stream"] = true;
  // What runs in the background has to be kept by the server; nothing else needs to be.
  if (background_) {
    body["background"] = true;
    body["store"] = true;
  } else if (!body.contains("store")) {
    body["store"] = false;
  }
  if (std::string system = JoinedTexts(request, "system"); !system.empty()) body["instructions"] = system;
  Json input = Json::array();
  for (const PromptMessage& message : request.messages) {
    if (message.role != "system") input.push_back({{"role", message.role}, {"content", message.text}});
  }
  body["input"] = std::move(input);
  if (int64_t tokens = MaxTokensOf(request, config); tokens > 0) body["max_output_tokens"] = tokens;
  if (config.temperature && TakesTemperature(config.model)) body["temperature"] = *config.temperature;
  if (std::string effort = EffortOf(request, config); !effort.empty()) ObjectAt(body, "reasoning")["effort"] = effort;
  if (WantsSchema(request, config)) {
    ObjectAt(body, "text")["format"] = {
        {"type", "json_schema"}, {"name", request.schema_name}, {"schema", request.schema}, {"strict", true}};
  }
  return {"POST", "/responses", {}, Dump(body)};
}

std::unique_ptr<ReplyReader> OpenAiResponses::NewReader(DeltaCallback on_delta) const {
  return std::make_unique<ResponsesReply>(background_, std::move(on_delta));
}

}  // namespace warpsmith::gateway
