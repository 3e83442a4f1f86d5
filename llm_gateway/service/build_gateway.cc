#include "llm_gateway/service/build_gateway.h"

#include "common/file.h"
#include "llm_gateway/limits/guarded_embeddings.h"
#include "llm_gateway/metrics/observed_provider.h"
#include "llm_gateway/novelty/text_similarity.h"
#include "llm_gateway/providers/catalog_provider.h"
#include "llm_gateway/providers/http_embeddings.h"
#include "llm_gateway/providers/prompted_provider.h"

namespace warpsmith::gateway {
namespace {

// For programs that run as models and files that are written; calls over HTTP take none.
constexpr int kMostThreads = 4096;

std::unique_ptr<IdeaProvider> Prompted(PooledModel& model, const GatewayParts& parts) {
  ModelPool* models = parts.models.get();
  PromptedProviderFacts facts;
  facts.describe = [&model, variants = parts.prompts->variants()] {
    v1::ModelDescription description = model.Describe();
    for (const std::string& variant : variants) description.add_prompt_variants(variant);
    return description;
  };
  facts.problem = [&model] { return model.Problem(); };
  facts.healthy = [&model] { return model.Healthy(); };
  facts.provider_of = [models](const std::string& name) { return models->ProviderOf(name); };
  return std::make_unique<PromptedProvider>(model.config.name, *model.guarded, *parts.prompts, *parts.similarity,
                                            std::move(facts));
}

void Observe(ModelPool& models, GatewayMetrics& metrics) {
  for (const auto& model : models.models()) {
    model->endpoint.observer = &metrics;
    metrics.AddModel({model->config.name, model->config.provider,
                      [limiter = model->limiter.get()] { return limiter->Demand().in_flight; },
                      [circuit = model->circuit.get()] { return circuit->state() == CircuitState::kOpen; }});
  }
}

}  // namespace

absl::StatusOr<GatewayFolders> GatewayFolders::Find() {
  GatewayFolders folders;
  WARPSMITH_ASSIGN_OR_RETURN(folders.prompts, FindShare("llm_gateway/prompts"));
  WARPSMITH_ASSIGN_OR_RETURN(folders.recipes, FindShare("llm_gateway/catalog/recipes"));
  return folders;
}

absl::StatusOr<GatewayParts> BuildGateway(const GatewayConfig& config, const GatewayFolders& folders,
                                          HttpTransport& transport, Clock& clock, GatewayMetrics* metrics) {
  GatewayParts parts;
  auto loaded = PromptSet::Load(folders.prompts, config.prompt_variants);
  if (!loaded.ok()) return Annotate(loaded.status(), config.place + "prompt_variants");
  parts.prompts = std::make_unique<PromptSet>(*std::move(loaded));
  WARPSMITH_ASSIGN_OR_RETURN(parts.models, ModelPool::Build(config, transport, clock));
  if (metrics != nullptr) Observe(*parts.models, *metrics);
  if (config.max_usd_per_day > 0 && !folders.data.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(parts.ledger,
                               DayLedger::Open(folders.data / "day_budget.json", parts.models->day(), clock));
  }
  if (config.novelty_by.empty()) {
    parts.similarity = std::make_unique<TextSimilarity>();
  } else {
    PooledModel& model = *parts.models->Find(config.novelty_by);
    parts.embedding_server = std::make_unique<HttpEmbeddings>(
        model.config, [key = model.key.get()] { return key->Get(); }, transport);
    GuardedEndpoint endpoint = model.endpoint;
    endpoint.price = model.embedding_price;
    endpoint.price_id = model.embedding_price_id;
    parts.embeddings =
        std::make_unique<GuardedEmbeddings>(*parts.embedding_server, std::move(endpoint), &parts.models->day());
    parts.similarity = std::make_unique<EmbeddingSimilarity>(*parts.embeddings, config.novelty_threshold);
  }
  ReplyStoreOptions store;
  if (!folders.data.empty()) store.folder = folders.data / "replies";
  WARPSMITH_ASSIGN_OR_RETURN(parts.replies, ReplyStore::Open(std::move(store), clock));
  parts.threads = std::make_unique<WorkerPool>(kMostThreads);
  parts.pool = std::make_unique<Fibers>(transport.loops(), *parts.threads);
  std::vector<std::unique_ptr<IdeaProvider>> providers;
  for (const ModelConfig& model : config.models) {
    if (model.provider != "catalog") {
      providers.push_back(Prompted(*parts.models->Find(model.name), parts));
    } else if (model.enabled) {
      WARPSMITH_ASSIGN_OR_RETURN(std::vector<Recipe> found, LoadRecipes(folders.recipes));
      providers.push_back(std::make_unique<CatalogProvider>(model.name, std::move(found)));
    }
  }
  if (metrics != nullptr) {
    for (auto& provider : providers) {
      provider = std::make_unique<ObservedProvider>(std::move(provider), *metrics);
    }
  }
  parts.gateway =
      std::make_unique<Gateway>(std::move(providers), parts.prompts->variants(), *parts.replies, *parts.pool);
  parts.checker = std::make_unique<ModelChecker>(*parts.gateway, *parts.models, *parts.pool);
  parts.estimator = std::make_unique<CostEstimator>(*parts.gateway, *parts.models, *parts.prompts);
  return parts;
}

}  // namespace warpsmith::gateway
