// The provider without a model: ideas and candidate files from hand-written recipes. An autotuner, a baseline for
// models, and what runs where no key is set. Threading: immutable; safe from any thread.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_CATALOG_PROVIDER_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_CATALOG_PROVIDER_H_

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "llm_gateway/catalog/recipe.h"
#include "llm_gateway/providers/idea_provider.h"

namespace warpsmith::gateway {

class CatalogProvider final : public IdeaProvider {
 public:
  CatalogProvider(std::string name, std::vector<Recipe> recipes)
      : name_(std::move(name)), recipes_(std::move(recipes)) {}

  const std::string& name() const override { return name_; }
  v1::ModelDescription Describe() const override;
  std::string Problem() const override { return ""; }
  bool Healthy() const override { return true; }
  bool is_catalog() const override { return true; }
  // The first ideas that fit and were not tried, of different categories where there are such. Shortfall "exhausted".
  v1::ProposeIdeasReply ProposeIdeas(const v1::ProposeIdeasRequest& request, const CallScope& scope) override;
  // Implementation i takes the i-th setting that fits; status "exhausted" beyond the last and for ideas not from here.
  v1::Implementation Implement(const v1::ImplementIdeaRequest& request, int index, const CallScope& scope) override;
  // The setting after the failed candidate's, else "exhausted".
  v1::Implementation Repair(const v1::RepairRequest& request, const CallScope& scope) override;

 private:
  struct Found {
    const RecipeIdea* idea = nullptr;
    std::vector<RecipeValues> settings;
    std::string problem;  // why there is none
  };
  Found Find(const v1::Idea& idea, const v1::ProblemContext& context) const;
  v1::ModelCall Call() const;

  std::string name_;
  std::vector<Recipe> recipes_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_CATALOG_PROVIDER_H_
