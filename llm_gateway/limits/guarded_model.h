// A model behind its limits: each call passes the circuit, reserves its most in the request's budget and the day's,
// waits for its turn, and is charged what it took. An answer that broke off is asked for once more with more room or,
// where there is none, with less effort; a model that cannot answer is replaced by those its configuration names for
// the reason, each asked once. Prices are put on what was taken.
//
// Under a limit in dollars a model without a price is refused (kBudget): what it costs is not known. A server of one's
// own is given the price 0 in gateway.yaml. Where money or tokens are limited, a call always carries a cap, since an
// answer without end could not be reserved for.
// Threading: safe from any thread; Complete blocks. The model's total_seconds bound the waits and whether anything more
// is tried; a call that has begun is bounded by its own model's. Errors: the last outcome, what came before it in
// Completion::earlier, oldest first.
#ifndef WARPSMITH_LLM_GATEWAY_LIMITS_GUARDED_MODEL_H_
#define WARPSMITH_LLM_GATEWAY_LIMITS_GUARDED_MODEL_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/limits/call_budget.h"
#include "llm_gateway/limits/call_observer.h"
#include "llm_gateway/limits/circuit_breaker.h"
#include "llm_gateway/limits/rate_limiter.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

// One model and what guards it; shared by all that ask this model. limiter and circuit may be null.
struct GuardedEndpoint {
  ModelConfig config;
  ModelProvider* model = nullptr;
  RateLimiter* limiter = nullptr;
  CircuitBreaker* circuit = nullptr;
  std::optional<Price> price;
  std::string price_id;  // with a price
  CallObserver* observer = &CallObserver::None();
};

class GuardedModel final : public ModelProvider {
 public:
  using Find = std::function<const GuardedEndpoint*(const std::string& name)>;

  // `find` knows this model and its fallbacks (null: unknown); what it returns outlives this object. `day` may be null.
  GuardedModel(std::string name, Find find, CallBudget* day, Clock& clock);

  Completion Complete(const PromptRequest& request, const DeltaCallback& on_delta, Cancellation& cancellation) override;

 private:
  struct Call;  // one call to one model: what it may take and how long it may wait
  struct Held;  // what it has reserved

  Completion AskWithRoom(Call& call, std::vector<Completion>& earlier);
  Completion Ask(Call& call, std::vector<Completion>& earlier);
  std::optional<Completion> Reserve(Call& call, Held& held);
  int64_t Charge(const Call& call, Held& held, Completion& completion, std::vector<Completion>& earlier);
  const GuardedEndpoint* NextFallback(const ModelConfig& config, const Completion& outcome,
                                      std::vector<std::string>& asked) const;

  const std::string name_;
  const Find find_;
  CallBudget* const day_;
  Clock& clock_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_LIMITS_GUARDED_MODEL_H_
