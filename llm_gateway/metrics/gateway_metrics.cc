#include "llm_gateway/metrics/gateway_metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/metrics/buckets.h"
#include "common/metrics/build_info.h"
#include "common/metrics/families.h"

namespace warpsmith::gateway {
namespace {

using metrics::Telemetry;

prometheus::Family<prometheus::Counter>& CounterOf(Telemetry& telemetry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(telemetry.registry());
}
prometheus::Family<prometheus::Histogram>& HistogramOf(Telemetry& telemetry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(telemetry.registry());
}

bool Counts(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

GatewayMetrics::GatewayMetrics(Telemetry& telemetry)
    : requests_(CounterOf(telemetry, "warpsmith_llm_requests_total", "Calls to models that ended"),
                {"provider", "model", "code"}),
      tokens_(CounterOf(telemetry, "warpsmith_llm_tokens_total", "Tokens of calls to models"),
              {"provider", "model", "kind"}),
      cost_(CounterOf(telemetry, "warpsmith_llm_cost_usd_total", "What calls to models cost by the price table"),
            {"provider", "model"}),
      retries_(CounterOf(telemetry, "warpsmith_llm_retries_total", "Tries made again, by the error before them"),
               {"provider", "model", "reason"}),
      waits_(CounterOf(telemetry, "warpsmith_llm_limit_waits_total", "Calls that had to wait for their turn"),
             {"model", "limit"}),
      replies_(CounterOf(telemetry, "warpsmith_llm_replies_total", "What was made of replies"),
               {"model", "prompt_version", "result"}),
      refusals_(CounterOf(telemetry, "warpsmith_llm_budget_refusals_total", "Calls that did not fit into a limit"),
                {"scope"}),
      first_token_(HistogramOf(telemetry, "warpsmith_llm_first_token_seconds",
                               "From a try's sending to the first byte of its answer"),
                   {"provider", "model"}, metrics::ModelBuckets()),
      seconds_(HistogramOf(telemetry, "warpsmith_llm_request_seconds", "Whole calls that were sent, retries included"),
               {"provider", "model"}, metrics::ModelBuckets()),
      waited_(HistogramOf(telemetry, "warpsmith_llm_limit_wait_seconds", "How long calls waited for their turn"),
              {"model"}, metrics::ModelBuckets()) {
  metrics::AddBuildInfo(telemetry, "warpsmith_build_info");
  for (const char* scope : {"request", "day"}) refusals_.With({scope});
}

void GatewayMetrics::AddModel(ShownModel model) {
  names_.Fold(model.name);
  const std::lock_guard lock(mutex_);
  models_.push_back(std::move(model));
}

std::string GatewayMetrics::ProviderOf(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(models_.begin(), models_.end(), [&](const ShownModel& known) { return known.name == model; });
  return found == models_.end() ? metrics::kOther : found->provider;
}

void GatewayMetrics::CountCall(const v1::ModelCall& call) {
  const std::string model = names_.Fold(call.model());
  const std::string provider = ProviderOf(call.model());
  requests_.With({provider, model, call.error_class().empty() ? "ok" : call.error_class()}).Increment();
  const auto add = [&](const char* kind, int64_t count) {
    if (count > 0) tokens_.With({provider, model, kind}).Increment(static_cast<double>(count));
  };
  const int64_t written = call.cache_write_5m_tokens() + call.cache_write_1h_tokens();
  add("input", call.input_tokens() - call.cached_input_tokens() - written);
  add("cached", call.cached_input_tokens());
  add("cache_write", written);
  add("output", call.output_tokens());
  add("reasoning", call.reasoning_tokens());
  if (!call.price_id().empty() && std::isfinite(call.usd()) && call.usd() >= 0) {
    cost_.With({provider, model}).Increment(call.usd());
  }
  if (call.tries() <= 0) return;
  if (Counts(call.seconds())) seconds_.With({provider, model}).Observe(call.seconds());
  if (call.error_class().empty() && Counts(call.first_byte_seconds())) {
    first_token_.With({provider, model}).Observe(call.first_byte_seconds());
  }
}

void GatewayMetrics::CountReply(const v1::ModelCall& call, const std::string& result) {
  const std::string& version = call.prompt_version();  // recipes are given without a prompt
  replies_.With({names_.Fold(call.model()), versions_.Fold(version.empty() ? "none" : version), result}).Increment();
}

void GatewayMetrics::OnRetry(const std::string& model, ErrorClass error) {
  retries_.With({ProviderOf(model), names_.Fold(model), std::string(Name(error))}).Increment();
}

void GatewayMetrics::OnLimitWait(const std::string& model, const std::string& limit, Duration waited) {
  const std::string name = names_.Fold(model);
  waits_.With({name, limit}).Increment();
  waited_.With({name}).Observe(ToSeconds(waited));
}

void GatewayMetrics::OnBudgetRefusal(bool of_day) { refusals_.With({of_day ? "day" : "request"}).Increment(); }

std::vector<prometheus::MetricFamily> GatewayMetrics::Collect() const {
  const std::lock_guard lock(mutex_);
  metrics::Families families;
  families.Gauge("warpsmith_llm_calls_in_flight", "Calls to models under way");
  for (const ShownModel& model : models_)
    families.Value({{"model", metrics::CleanLabel(model.name)}}, model.in_flight());
  families.Gauge("warpsmith_llm_circuit_open", "Whether the model is not asked because it failed again and again");
  for (const ShownModel& model : models_) {
    families.Value({{"provider", model.provider}, {"model", metrics::CleanLabel(model.name)}},
                   model.circuit_open() ? 1 : 0);
  }
  return families.Take();
}

}  // namespace warpsmith::gateway
