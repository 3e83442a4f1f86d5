// What the service asks of a model or of the catalog: ideas, implementations, repairs. Models answer through prompts
// (PromptedProvider), the catalog from its recipes.
// Threading: safe from any number of threads; calls block and return soon after cancellation.
// Errors: none are thrown and none are statuses: what went wrong stands in the answer and its ModelCall.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_IDEA_PROVIDER_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_IDEA_PROVIDER_H_

#include <string>

#include "llm_gateway/http/cancellation.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

class CallBudget;  // llm_gateway/limits/call_budget.h

// What a request brings with it beside its words: who may end it, and what all of its calls together may spend. Both
// outlive the call.
struct CallScope {
  CallScope(Cancellation& cancelled_by, CallBudget* spends = nullptr)  // NOLINT: a Cancellation alone will do
      : cancellation(cancelled_by), budget(spends) {}
  Cancellation& cancellation;
  CallBudget* budget;  // null: no limit
};

class IdeaProvider {
 public:
  virtual ~IdeaProvider() = default;
  virtual const std::string& name() const = 0;
  virtual v1::ModelDescription Describe() const = 0;
  // Why it cannot be used as it is; empty where it can.
  virtual std::string Problem() const = 0;
  // False while its circuit is open: usable, but better not asked first.
  virtual bool Healthy() const = 0;
  // Whether ideas carry catalog keys and only such ideas can be implemented.
  virtual bool is_catalog() const = 0;

  virtual v1::ProposeIdeasReply ProposeIdeas(const v1::ProposeIdeasRequest& request, const CallScope& scope) = 0;
  virtual v1::Implementation Implement(const v1::ImplementIdeaRequest& request, int index, const CallScope& scope) = 0;
  virtual v1::Implementation Repair(const v1::RepairRequest& request, const CallScope& scope) = 0;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_IDEA_PROVIDER_H_
