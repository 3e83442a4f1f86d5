// From requests to calls of many models at once: which models are asked, in what order, what runs in parallel, and what
// is told when some of them fail. Knows nothing of gRPC. Threading: safe from any number of threads; calls block until
// they are done or cancelled. Errors: InvalidArgument for a request that makes no sense, FailedPrecondition where no
// model is usable. What goes wrong with a model stands in the answers.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_GATEWAY_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_GATEWAY_H_

#include <functional>
#include <memory>
#include <vector>

#include "common/status.h"
#include "llm_gateway/providers/idea_provider.h"

namespace warpsmith::gateway {

class Gateway {
 public:
  explicit Gateway(std::vector<std::unique_ptr<IdeaProvider>> providers) : providers_(std::move(providers)) {}

  // One model is asked (which one turns with the idempotency key); the next ones only for what is missing.
  absl::StatusOr<v1::ProposeIdeasReply> ProposeIdeas(const v1::ProposeIdeasRequest& request,
                                                     Cancellation& cancellation);

  // All indexes in parallel, spread over the models; `emit` is called from this thread as each one ends, and returns
  // false when nobody listens any more. Returns after the last one has ended.
  absl::Status ImplementIdea(const v1::ImplementIdeaRequest& request,
                             const std::function<bool(const v1::Implementation&)>& emit, Cancellation& cancellation);

  absl::StatusOr<v1::Implementation> Repair(const v1::RepairRequest& request, Cancellation& cancellation);

  v1::ListModelsReply ListModels() const;

 private:
  using Choice = std::vector<IdeaProvider*>;
  // Those named by the call, or all usable ones, beginning with the one whose turn it is.
  absl::StatusOr<Choice> Choose(const v1::CallContext& call) const;
  // The catalog for its own ideas; otherwise the models in turn.
  static IdeaProvider* ProviderFor(const Choice& choice, const v1::Idea& idea, int index);

  std::vector<std::unique_ptr<IdeaProvider>> providers_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_GATEWAY_H_
