#include "llm_gateway/providers/openai_responses.h"

#include <utility>

#include "llm_gateway/providers/request_body.h"
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

std::string WithInput(Json fields, const PromptRequest& request) {
  const std::vector<const PromptText*> system = TextsOf(request, "system");
  if (!system.empty()) fields.erase("instructions");
  RequestBody body(std::move(fields), {"input"}, TextBytes(request));
  if (!system.empty()) {
    body.Key("instructions");
    body.String(system);
  }
  body.Key("input");
  body.Raw("[");
  bool first = true;
  for (const PromptMessage& message : request.messages) {
    if (message.role == "system") continue;
    body.Raw(std::exchange(first, false) ? R"({"role":)" : R"(,{"role":)");
    body.Word(message.role);
    body.Raw(R"(,"content":)");
    body.String(message.text);
    body.Raw("}");
  }
  body.Raw("]");
  return body.Finish();
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
  if (int64_t tokens = MaxTokensOf(request, config); tokens > 0) body["max_output_tokens"] = tokens;
  if (config.temperature && TakesTemperature(config.model)) body["temperature"] = *config.temperature;
  if (std::string effort = EffortOf(request, config); !effort.empty()) ObjectAt(body, "reasoning")["effort"] = effort;
  if (WantsSchema(request, config)) {
    ObjectAt(body, "text")["format"] = {
        {"type", "json_schema"}, {"name", request.schema_name}, {"schema", request.schema}, {"strict", true}};
  }
  return {"POST", "/responses", {}, WithInput(std::move(body), request)};
}

std::unique_ptr<ReplyReader> OpenAiResponses::NewReader(DeltaCallback on_delta) const {
  return std::make_unique<ResponsesReply>(background_, std::move(on_delta));
}

}  // namespace warpsmith::gateway
