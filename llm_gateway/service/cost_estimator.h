// What calls would cost before any is made: their prompts are rendered and their tokens counted, replies are taken at
// what such replies usually have, and at most at each model's cap. Calls nobody.
// Threading: safe from any thread. Units: tokens, US dollars. Errors: InvalidArgument for a request that makes no
// sense, FailedPrecondition where no model is usable.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_COST_ESTIMATOR_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_COST_ESTIMATOR_H_

#include "common/status.h"
#include "llm_gateway/prompts/prompt_set.h"
#include "llm_gateway/service/gateway.h"
#include "llm_gateway/service/model_pool.h"

namespace warpsmith::gateway {

class CostEstimator {
 public:
  CostEstimator(const Gateway& gateway, const ModelPool& models, const PromptSet& prompts)
      : gateway_(gateway), models_(models), prompts_(prompts) {}

  absl::StatusOr<v1::EstimateReply> Estimate(const v1::EstimateRequest& request) const;

 private:
  const Gateway& gateway_;
  const ModelPool& models_;
  const PromptSet& prompts_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_COST_ESTIMATOR_H_
