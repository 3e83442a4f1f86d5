// A model as a provider of ideas: puts requests into prompts, calls the model, reads its replies, and fills the record
// of every call that was made. Ideas too close to earlier ones are asked for again, once. Threading: as IdeaProvider.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_PROMPTED_PROVIDER_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_PROMPTED_PROVIDER_H_

#include <functional>
#include <string>
#include <vector>

#include "llm_gateway/novelty/too_close.h"
#include "llm_gateway/prompts/prompt_set.h"
#include "llm_gateway/providers/idea_provider.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

// What the provider tells of its model, asked each time: keys come and go, circuits open and close.
struct PromptedProviderFacts {
  std::function<v1::ModelDescription()> describe;
  std::function<std::string()> problem;  // empty: usable
  std::function<bool()> healthy;
  // The provider ("openai") of a model by its configured name: fallbacks answer for each other.
  std::function<std::string(const std::string& model)> provider_of;
};

class PromptedProvider final : public IdeaProvider {
 public:
  // All references outlive this.
  PromptedProvider(std::string name, ModelProvider& model, const PromptSet& prompts, const IdeaSimilarity& similarity,
                   PromptedProviderFacts facts);

  const std::string& name() const override { return name_; }
  v1::ModelDescription Describe() const override { return facts_.describe(); }
  std::string Problem() const override { return facts_.problem(); }
  bool Healthy() const override { return facts_.healthy(); }
  bool is_catalog() const override { return false; }
  v1::ProposeIdeasReply ProposeIdeas(const v1::ProposeIdeasRequest& request, const CallScope& scope) override;
  v1::Implementation Implement(const v1::ImplementIdeaRequest& request, int index, const CallScope& scope) override;
  v1::Implementation Repair(const v1::RepairRequest& request, const CallScope& scope) override;

 private:
  Completion Complete(const absl::StatusOr<RenderedPrompt>& prompt, const v1::CallContext& context, int sample_index,
                      const CallScope& scope);
  v1::ModelCall Record(const absl::StatusOr<RenderedPrompt>& prompt, const Completion& completion) const;
  v1::Implementation Code(const absl::StatusOr<RenderedPrompt>& prompt, const Completion& completion, int index) const;
  // Calls the model; its calls go into `reply`, the ideas it gave are returned. `shortfall` says why there are fewer.
  std::vector<v1::Idea> AskForIdeas(const absl::StatusOr<RenderedPrompt>& prompt,
                                    const v1::ProposeIdeasRequest& request, int count, int sample_index,
                                    const std::vector<std::string>& taken, const CallScope& scope,
                                    v1::ProposeIdeasReply& reply, std::string& shortfall);
  // What it asks for goes into `reply`'s calls.
  std::vector<SimilarPair> TooCloseTo(const std::vector<v1::Idea>& ideas, const v1::ProposeIdeasRequest& request,
                                      const CallScope& scope, v1::ProposeIdeasReply& reply) const;
  const std::string& NameOf(const Completion& completion) const;

  const std::string name_;
  ModelProvider& model_;
  const PromptSet& prompts_;
  const IdeaSimilarity& similarity_;
  const PromptedProviderFacts facts_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_PROMPTED_PROVIDER_H_
