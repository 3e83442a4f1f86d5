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

class IdeaProvider {
 public:
  virtual ~IdeaProvider() = default;
  virtual v1::ModelDescription Describe() const = 0;
  // Whether ideas carry catalog keys and only such ideas can be implemented.
  virtual bool is_catalog() const = 0;

  virtual v1::ProposeIdeasReply ProposeIdeas(const v1::ProposeIdeasRequest& request, Cancellation& cancellation) = 0;
  virtual v1::Implementation Implement(const v1::ImplementIdeaRequest& request, int index,
                                       Cancellation& cancellation) = 0;
  virtual v1::Implementation Repair(const v1::RepairRequest& request, Cancellation& cancellation) = 0;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_IDEA_PROVIDER_H_
