// Anthropic's Messages API: the static part of a prompt is marked for its cache; thinking by budget or adaptive.
// Threading: as WireFormat. Units: tokens. Source of the method: Anthropic's API reference.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_ANTHROPIC_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_ANTHROPIC_H_

#include <memory>

#include "llm_gateway/providers/wire_format.h"

namespace warpsmith::gateway {

class Anthropic final : public WireFormat {
 public:
  HttpRequestParts Build(const PromptRequest& request, const ModelConfig& config) const override;
  std::pair<std::string, std::string> KeyHeader(const Secret& key) const override;
  std::unique_ptr<ReplyReader> NewReader(DeltaCallback on_delta) const override;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_ANTHROPIC_H_
