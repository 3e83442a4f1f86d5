// A model behind a program: the prompt on its standard input, its answer on its standard output, one process a call.
// The program gets a short environment without the gateway's keys, a deadline, and a cap on its output.
// Threading: as ModelProvider.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_COMMAND_MODEL_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_COMMAND_MODEL_H_

#include <string>

#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

class CommandModel final : public ModelProvider {
 public:
  explicit CommandModel(ModelConfig config) : config_(std::move(config)) {}
  Completion Complete(const PromptRequest& request, const DeltaCallback& on_delta, Cancellation& cancellation) override;

 private:
  Completion RunProgram(const PromptRequest& request, const DeltaCallback& on_delta, Cancellation& cancellation) const;

  ModelConfig config_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_COMMAND_MODEL_H_
