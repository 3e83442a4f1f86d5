// Gemini's streamGenerateContent: a stream of partial answers, thoughts told apart from text.
// Threading: as WireFormat. Units: tokens. Source of the method: the Gemini API's reference.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_GEMINI_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_GEMINI_H_

#include <memory>

#include "llm_gateway/providers/wire_format.h"

namespace warpsmith::gateway {

class Gemini final : public WireFormat {
 public:
  HttpRequestParts Build(const PromptRequest& request, const ModelConfig& config) const override;
  std::pair<std::string, std::string> KeyHeader(const Secret& key) const override;
  std::unique_ptr<ReplyReader> NewReader(DeltaCallback on_delta) const override;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_GEMINI_H_
