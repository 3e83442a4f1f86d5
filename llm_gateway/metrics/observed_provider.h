// An IdeaProvider whose calls and replies are counted. What comes out of the store of replies does not pass here.
// Threading: as IdeaProvider.
#ifndef WARPSMITH_LLM_GATEWAY_METRICS_OBSERVED_PROVIDER_H_
#define WARPSMITH_LLM_GATEWAY_METRICS_OBSERVED_PROVIDER_H_

#include <memory>
#include <string>
#include <utility>

#include "llm_gateway/metrics/gateway_metrics.h"
#include "llm_gateway/providers/idea_provider.h"

namespace warpsmith::gateway {

class ObservedProvider final : public IdeaProvider {
 public:
  // `metrics` outlives this.
  ObservedProvider(std::unique_ptr<IdeaProvider> provider, GatewayMetrics& metrics)
      : provider_(std::move(provider)), metrics_(metrics) {}

  const std::string& name() const override { return provider_->name(); }
  v1::ModelDescription Describe() const override { return provider_->Describe(); }
  std::string Problem() const override { return provider_->Problem(); }
  bool Healthy() const override { return provider_->Healthy(); }
  bool is_catalog() const override { return provider_->is_catalog(); }

  v1::ProposeIdeasReply ProposeIdeas(const v1::ProposeIdeasRequest& request, const CallScope& scope) override;
  v1::Implementation Implement(const v1::ImplementIdeaRequest& request, int index, const CallScope& scope) override;
  v1::Implementation Repair(const v1::RepairRequest& request, const CallScope& scope) override;

 private:
  v1::Implementation Count(v1::Implementation implementation);

  const std::unique_ptr<IdeaProvider> provider_;
  GatewayMetrics& metrics_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_METRICS_OBSERVED_PROVIDER_H_
