// The gateway's counters: calls to models as they are recorded, what held them up, what was made of the replies.
// Threading: safe from any thread and fiber. Units: seconds, dollars, tokens.
#ifndef WARPSMITH_LLM_GATEWAY_METRICS_GATEWAY_METRICS_H_
#define WARPSMITH_LLM_GATEWAY_METRICS_GATEWAY_METRICS_H_

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/metrics/bounded_labels.h"
#include "common/metrics/children.h"
#include "common/metrics/telemetry.h"
#include "llm_gateway/limits/call_observer.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

// A model of the configuration; the functions answer at once.
struct ShownModel {
  std::string name, provider;
  std::function<int()> in_flight;
  std::function<bool()> circuit_open;
};

class GatewayMetrics final : public CallObserver, public prometheus::Collectable {
 public:
  explicit GatewayMetrics(metrics::Telemetry& telemetry);

  // What its functions look at outlives the last scrape.
  void AddModel(ShownModel model);

  // A call that ended, be it sent or not; catalogs make none.
  void CountCall(const v1::ModelCall& call);
  // What was made of a reply.
  void CountReply(const v1::ModelCall& call, const std::string& result);

  void OnRetry(const std::string& model, ErrorClass error) override;
  void OnLimitWait(const std::string& model, const std::string& limit, Duration waited) override;
  void OnBudgetRefusal(bool of_day) override;

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::string ProviderOf(const std::string& model) const;

  metrics::BoundedLabels names_{200};     // of models
  metrics::BoundedLabels versions_{200};  // of prompts
  metrics::Children<prometheus::Counter> requests_, tokens_, cost_, retries_, waits_, replies_, refusals_;
  metrics::Children<prometheus::Histogram> first_token_, seconds_, waited_;
  mutable std::mutex mutex_;
  std::vector<ShownModel> models_;  // guarded by mutex_
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_METRICS_GATEWAY_METRICS_H_
