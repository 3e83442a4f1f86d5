// Embeddings behind the limits of the model whose server makes them: each request reserves its most in the caller's
// budget and the day's, waits for its turn among the model's calls, is charged what it took, and stands in the record
// of the request that it is for. There is no waiting for money: whoever asks goes on without. Threading: safe from any
// thread; Embed blocks. Units: US dollars, tokens. Errors: the server's; FailedPrecondition where dollars are limited
// and the embedding model has no price; ResourceExhausted for what does not fit into a budget or a rate.
#ifndef WARPSMITH_LLM_GATEWAY_LIMITS_GUARDED_EMBEDDINGS_H_
#define WARPSMITH_LLM_GATEWAY_LIMITS_GUARDED_EMBEDDINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "llm_gateway/limits/guarded_model.h"
#include "llm_gateway/novelty/embedding_similarity.h"
#include "llm_gateway/providers/embedding_server.h"

namespace warpsmith::gateway {

// What a record calls the prompt of a call that had none.
inline constexpr char kEmbeddingPrompt[] = "embedding";

class GuardedEmbeddings final : public EmbeddingModel {
 public:
  // `endpoint`: of the model, with the price of its embeddings. `day` may be null; all references outlive this.
  GuardedEmbeddings(EmbeddingServer& server, GuardedEndpoint endpoint, CallBudget* day)
      : server_(server), endpoint_(std::move(endpoint)), day_(day) {}

  absl::StatusOr<std::vector<std::vector<float>>> Embed(const std::vector<std::string>& texts, Asking& asking) override;
  std::string name() const override { return endpoint_.config.embedding_model; }

 private:
  EmbeddingServer& server_;
  const GuardedEndpoint endpoint_;
  CallBudget* const day_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_LIMITS_GUARDED_EMBEDDINGS_H_
