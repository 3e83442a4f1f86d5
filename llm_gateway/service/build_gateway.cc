#include "llm_gateway/service/build_gateway.h"

#include <random>

#include "common/log.h"
#include "llm_gateway/providers/catalog_provider.h"
#include "llm_gateway/providers/command_model.h"
#include "llm_gateway/providers/openai_compatible.h"
#include "llm_gateway/providers/prompted_provider.h"

namespace warpsmith::gateway {
namespace {

double RandomUnit() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

std::unique_ptr<IdeaProvider> BuildModel(const ModelConfig& model, const PromptSet& prompts, HttpTransport& transport,
                                         Clock& clock) {
  PromptedProviderOptions options{model.name, model.provider, model.concurrency, ""};
  std::unique_ptr<ModelProvider> provider;
  if (!model.enabled) {
    options.problem = "disabled in the configuration: " + model.place + ".enabled";
  } else if (model.provider == "command") {
    provider = std::make_unique<CommandModel>(model);
  } else {
    absl::StatusOr<Secret> key = KeyOf(model);
    if (key.ok()) {
      provider = std::make_unique<OpenAiCompatible>(model, *std::move(key), transport, clock, RandomUnit);
    } else {
      options.problem = Message(key.status());
      spdlog::warn("model {} is not usable: {}", model.name, options.problem);
    }
  }
  return std::make_unique<PromptedProvider>(std::move(options), std::move(provider), prompts);
}

}  // namespace

absl::StatusOr<GatewayParts> BuildGateway(const GatewayConfig& config, const std::filesystem::path& prompts,
                                          const std::filesystem::path& recipes, HttpTransport& transport,
                                          Clock& clock) {
  GatewayParts parts;
  WARPSMITH_ASSIGN_OR_RETURN(PromptSet loaded, PromptSet::Load(prompts));
  parts.prompts = std::make_unique<PromptSet>(std::move(loaded));
  std::vector<std::unique_ptr<IdeaProvider>> providers;
  for (const ModelConfig& model : config.models) {
    if (model.provider != "catalog") {
      providers.push_back(BuildModel(model, *parts.prompts, transport, clock));
    } else if (model.enabled) {
      WARPSMITH_ASSIGN_OR_RETURN(std::vector<Recipe> found, LoadRecipes(recipes));
      providers.push_back(std::make_unique<CatalogProvider>(model.name, std::move(found)));
    }
  }
  parts.gateway = std::make_unique<Gateway>(std::move(providers));
  return parts;
}

}  // namespace warpsmith::gateway
