// OpenAI's Responses API. With `background` the server works on while nobody is connected: an answer whose stream was
// cut is read on from the event after the last one, or polled for, and cancelled when nobody waits for it any more.
// Threading: as WireFormat. Units: tokens. Source of the method: OpenAI's API reference and guide to background mode.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_OPENAI_RESPONSES_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_OPENAI_RESPONSES_H_

#include <memory>

#include "llm_gateway/providers/wire_format.h"

namespace warpsmith::gateway {

class OpenAiResponses final : public WireFormat {
 public:
  explicit OpenAiResponses(bool background) : background_(background) {}
  HttpRequestParts Build(const PromptRequest& request, const ModelConfig& config) const override;
  std::unique_ptr<ReplyReader> NewReader(DeltaCallback on_delta) const override;

 private:
  bool background_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_OPENAI_RESPONSES_H_
