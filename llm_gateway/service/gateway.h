// From requests to calls of many models at once: which models are asked, in what order, what runs in parallel, what is
// told when some of them fail, and that no reply is paid for twice. Knows nothing of gRPC. Threading: safe from any
// number of threads and fibers; calls block until they are done or cancelled. Errors: InvalidArgument for a request
// that makes no sense, FailedPrecondition where no model is usable. What goes wrong with a model stands in the answers.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_GATEWAY_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_GATEWAY_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "llm_gateway/async/task_runner.h"
#include "llm_gateway/providers/idea_provider.h"
#include "llm_gateway/service/reply_store.h"

namespace warpsmith::gateway {

class Gateway {
 public:
  // `variants`: the prompt variants there are. `replies` and `pool` outlive this.
  Gateway(std::vector<std::unique_ptr<IdeaProvider>> providers, std::vector<std::string> variants, ReplyStore& replies,
          TaskRunner& pool);

  // One model is asked (which one turns with the idempotency key); the next ones only for what is missing.
  absl::StatusOr<v1::ProposeIdeasReply> ProposeIdeas(const v1::ProposeIdeasRequest& request,
                                                     Cancellation& cancellation);

  // Is told each implementation, and whether it is the last; false: nobody listens any more.
  using Emit = std::function<bool(v1::Implementation, bool last)>;
  // Replies that are stored at once, then all other indexes in parallel, spread over the models. `emit` is called from
  // several threads, one after the other, as each one ends. Returns after the last one has ended.
  absl::Status ImplementIdea(const v1::ImplementIdeaRequest& request, const Emit& emit, Cancellation& cancellation);

  absl::StatusOr<v1::Implementation> Repair(const v1::RepairRequest& request, Cancellation& cancellation);

  v1::ListModelsReply ListModels() const;
  const std::vector<std::unique_ptr<IdeaProvider>>& providers() const { return providers_; }

 private:
  using Choice = std::vector<IdeaProvider*>;
  absl::Status CheckCall(const v1::CallContext& call) const;
  absl::StatusOr<IdeaProvider*> Named(const std::string& name) const;
  // Those named by the call, or all usable ones, beginning with the one whose turn it is.
  absl::StatusOr<Choice> Choose(const v1::CallContext& call) const;
  // The catalog for its own ideas; otherwise the models in turn.
  static IdeaProvider* ProviderFor(const Choice& choice, const v1::Idea& idea, int index);
  v1::ProposeIdeasReply Ask(const v1::ProposeIdeasRequest& request, const Choice& choice, const CallScope& scope);

  std::vector<std::unique_ptr<IdeaProvider>> providers_;
  std::vector<std::string> variants_;
  ReplyStore& replies_;
  TaskRunner& pool_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_GATEWAY_H_
