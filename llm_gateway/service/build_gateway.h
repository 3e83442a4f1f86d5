// A Gateway out of its configuration: models with their keys and limits, prompts, recipes where a catalog is
// configured, stored replies, and what checks models and estimates costs.
// Threading: use from one thread. Errors: a broken prompt, recipe, price file or data folder stops the start; a missing
// key does not, its model is listed as unusable with the reason.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_BUILD_GATEWAY_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_BUILD_GATEWAY_H_

#include <filesystem>
#include <memory>

#include "common/clock.h"
#include "llm_gateway/async/fibers.h"
#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/metrics/gateway_metrics.h"
#include "llm_gateway/novelty/embedding_similarity.h"
#include "llm_gateway/prompts/prompt_set.h"
#include "llm_gateway/providers/embedding_server.h"
#include "llm_gateway/service/cost_estimator.h"
#include "llm_gateway/service/day_ledger.h"
#include "llm_gateway/service/gateway.h"
#include "llm_gateway/service/model_checker.h"
#include "llm_gateway/service/model_pool.h"
#include "llm_gateway/service/reply_store.h"
#include "llm_gateway/service/worker_pool.h"

namespace warpsmith::gateway {

// In the order in which each needs those before it. The pool, whose fibers calls run on, ends last of what calls run
// through, and the threads for what blocks after it.
struct GatewayParts {
  std::unique_ptr<PromptSet> prompts;
  std::unique_ptr<ModelPool> models;
  std::unique_ptr<DayLedger> ledger;                  // null where nothing is limited or kept
  std::unique_ptr<EmbeddingServer> embedding_server;  // null where ideas are told apart by their words
  std::unique_ptr<EmbeddingModel> embeddings;         // likewise
  std::unique_ptr<IdeaSimilarity> similarity;
  std::unique_ptr<ReplyStore> replies;
  std::unique_ptr<WorkerPool> threads;
  std::unique_ptr<Fibers> pool;
  std::unique_ptr<Gateway> gateway;
  std::unique_ptr<ModelChecker> checker;
  std::unique_ptr<CostEstimator> estimator;
};

struct GatewayFolders {
  std::filesystem::path prompts;  // llm_gateway/prompts
  std::filesystem::path recipes;  // llm_gateway/catalog/recipes
  std::filesystem::path data;     // replies and the day's costs are kept in it; empty: in memory only

  // As they ship with warpsmith.
  static absl::StatusOr<GatewayFolders> Find();
};

// `transport` and `clock` outlive the result, which outlives the use of `metrics`; null: nothing is counted.
absl::StatusOr<GatewayParts> BuildGateway(const GatewayConfig& config, const GatewayFolders& folders,
                                          HttpTransport& transport, Clock& clock, GatewayMetrics* metrics = nullptr);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_BUILD_GATEWAY_H_
