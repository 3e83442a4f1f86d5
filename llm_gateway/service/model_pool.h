// Every configured model with what belongs to it: its key, its limits, its circuit, its price, and the provider that
// speaks to it, guarded. Models know of each other here, for fallbacks and recordings.
// Threading: Build from one thread; everything else is safe from any. Errors: Build names the configuration's line; a
// missing key is no error of Build, its model says so in Problem.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_MODEL_POOL_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_MODEL_POOL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/config/reloading_key.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/limits/call_budget.h"
#include "llm_gateway/limits/circuit_breaker.h"
#include "llm_gateway/limits/guarded_model.h"
#include "llm_gateway/limits/price_table.h"
#include "llm_gateway/limits/rate_limiter.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

struct PooledModel {
  ModelConfig config;
  std::unique_ptr<ReloadingKey> key;
  std::string broken;                   // what makes it unusable for good: a recording that cannot be read
  std::unique_ptr<ModelProvider> bare;  // without limits
  std::unique_ptr<RateLimiter> limiter;
  std::unique_ptr<CircuitBreaker> circuit;
  GuardedEndpoint endpoint;
  std::unique_ptr<ModelProvider> guarded;
  std::optional<gateway::Price> embedding_price;
  std::string embedding_price_id;  // with an embedding_price

  std::string Problem() const;  // why it cannot be used; empty where it can
  bool Healthy() const;         // its circuit is closed
  v1::ModelDescription Describe() const;
};

class ModelPool {
 public:
  // `transport` and `clock` outlive the pool.
  static absl::StatusOr<std::unique_ptr<ModelPool>> Build(const GatewayConfig& config, HttpTransport& transport,
                                                          Clock& clock);

  // All but catalogs, in the order of the configuration.
  const std::vector<std::unique_ptr<PooledModel>>& models() const { return models_; }
  PooledModel* Find(const std::string& name) const;
  std::string ProviderOf(const std::string& name) const;
  CallBudget& day() { return day_; }
  void ReloadKeys();

 private:
  ModelPool(const GatewayConfig& config, HttpTransport& transport, Clock& clock);
  absl::Status Add(const ModelConfig& config, const PriceTable& prices);
  absl::Status Price(PooledModel& model, const PriceTable& prices);
  static void PriceEmbeddings(PooledModel& model, const PriceTable& prices);

  HttpTransport& transport_;
  Clock& clock_;
  DayBudget day_;
  std::vector<std::unique_ptr<PooledModel>> models_;
  std::map<std::string, PooledModel*> by_name_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_MODEL_POOL_H_
