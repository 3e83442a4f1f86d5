// Any server that speaks OpenAI's chat completions: streaming, with deadlines, cancellation and one retry policy.
// Threading: as ModelProvider. Errors: a Completion with class and message; the message names where the key comes from,
// never the key.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_OPENAI_COMPATIBLE_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_OPENAI_COMPATIBLE_H_

#include <functional>
#include <string>

#include "common/clock.h"
#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/providers/model_provider.h"
#include "llm_gateway/retry/retry_policy.h"

namespace warpsmith::gateway {

class OpenAiCompatible final : public ModelProvider {
 public:
  // `random` gives numbers in [0, 1) and is safe from any thread. `transport` and `clock` outlive this.
  OpenAiCompatible(ModelConfig config, Secret key, HttpTransport& transport, Clock& clock,
                   std::function<double()> random);

  Completion Complete(const PromptRequest& request, const DeltaCallback& on_delta, Cancellation& cancellation) override;

 private:
  std::string Body(const PromptRequest& request) const;
  // One exchange. `hints` are what the server says about trying again.
  Completion Try(const std::string& body, Duration left, const DeltaCallback& on_delta, Cancellation& cancellation,
                 RetryHints& hints) const;
  Completion OfTransportError(const HttpResult& result) const;
  std::string Explain(ErrorClass error, const std::string& message) const;
  bool WaitOrCancelled(Duration wait, Cancellation& cancellation) const;

  ModelConfig config_;
  Secret key_;
  HttpTransport& transport_;
  Clock& clock_;
  std::function<double()> random_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_OPENAI_COMPATIBLE_H_
