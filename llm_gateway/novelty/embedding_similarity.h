// Similarity by a model's embeddings: the cosine of the vectors of title and plan.
// Threading: as the model. Errors: the model's; Internal for vectors that do not go together.
#ifndef WARPSMITH_LLM_GATEWAY_NOVELTY_EMBEDDING_SIMILARITY_H_
#define WARPSMITH_LLM_GATEWAY_NOVELTY_EMBEDDING_SIMILARITY_H_

#include <string>
#include <vector>

#include "llm_gateway/novelty/idea_similarity.h"

namespace warpsmith::gateway {

class EmbeddingModel {
 public:
  virtual ~EmbeddingModel() = default;
  // A vector for each text, all of one length.
  virtual absl::StatusOr<std::vector<std::vector<float>>> Embed(const std::vector<std::string>& texts,
                                                                Asking& asking) = 0;
  virtual std::string name() const = 0;
};

class EmbeddingSimilarity final : public IdeaSimilarity {
 public:
  // The threshold suits embeddings of sentences in general; models differ, so a configuration may set its own.
  explicit EmbeddingSimilarity(EmbeddingModel& model, double threshold = 0.92) : model_(model), threshold_(threshold) {}

  absl::StatusOr<std::vector<std::vector<double>>> Between(const std::vector<const v1::Idea*>& left,
                                                           const std::vector<const v1::Idea*>& right,
                                                           Asking& asking) const override;
  double threshold() const override { return threshold_; }
  std::string name() const override { return "embeddings of " + model_.name(); }

 private:
  EmbeddingModel& model_;
  double threshold_;
};

// What is embedded: the title, then the plan's steps, bounded.
std::string EmbeddedText(const v1::Idea& idea);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_NOVELTY_EMBEDDING_SIMILARITY_H_
