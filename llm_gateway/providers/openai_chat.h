// OpenAI's chat completions, as vLLM, SGLang, Ollama, Azure and most others speak them too. Reasoning comes as
// `reasoning_content` or `reasoning` where a server shows it. Threading: as WireFormat. Units: tokens.
// Source of the method: OpenAI's API reference, vLLM's documentation of its server.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_OPENAI_CHAT_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_OPENAI_CHAT_H_

#include <memory>
#include <string>
#include <utility>

#include "llm_gateway/providers/wire_format.h"

namespace warpsmith::gateway {

class OpenAiChat final : public WireFormat {
 public:
  // `bare_key`: the key stands in a header of its own, "api-key", as Azure wants it.
  explicit OpenAiChat(bool bare_key = false) : bare_key_(bare_key) {}

  HttpRequestParts Build(const PromptRequest& request, const ModelConfig& config) const override;
  std::pair<std::string, std::string> KeyHeader(const Secret& key) const override;
  std::unique_ptr<ReplyReader> NewReader(DeltaCallback on_delta) const override;

 private:
  const bool bare_key_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_OPENAI_CHAT_H_
