// A model as a provider of ideas: puts requests into prompts, calls the model, reads its replies, and fills the record
// of the call. Calls beyond the model's concurrency wait their turn. Threading: as IdeaProvider.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_PROMPTED_PROVIDER_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_PROMPTED_PROVIDER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "llm_gateway/prompts/prompt_set.h"
#include "llm_gateway/providers/idea_provider.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

struct PromptedProviderOptions {
  std::string name;
  std::string provider;
  int concurrency = 32;
  std::string problem;  // not empty: the model is not usable, and why
};

class PromptedProvider final : public IdeaProvider {
 public:
  // `model` may be null where options.problem says why. `prompts` outlives this.
  PromptedProvider(PromptedProviderOptions options, std::unique_ptr<ModelProvider> model, const PromptSet& prompts);

  v1::ModelDescription Describe() const override;
  bool is_catalog() const override { return false; }
  v1::ProposeIdeasReply ProposeIdeas(const v1::ProposeIdeasRequest& request, Cancellation& cancellation) override;
  v1::Implementation Implement(const v1::ImplementIdeaRequest& request, int index, Cancellation& cancellation) override;
  v1::Implementation Repair(const v1::RepairRequest& request, Cancellation& cancellation) override;

 private:
  Completion Complete(const RenderedPrompt& prompt, const v1::CallContext& context, Cancellation& cancellation);
  v1::ModelCall Record(const RenderedPrompt& prompt, const Completion& completion) const;
  v1::Implementation Code(const RenderedPrompt& prompt, const Completion& completion, int index) const;
  bool Enter(Cancellation& cancellation);  // false: cancelled while waiting
  void Leave();

  PromptedProviderOptions options_;
  std::unique_ptr<ModelProvider> model_;
  const PromptSet& prompts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;  // guarded by mutex_
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_PROMPTED_PROVIDER_H_
