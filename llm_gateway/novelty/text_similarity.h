// Similarity of ideas by their words alone: the cosine between weighted sets of words (see idea_words.h) and between
// the titles' groups of three letters. Needs no model and no network, and cannot fail.
// Threading: stateless. Source of the threshold: tests/llm_gateway/novelty, pairs of ideas with what people say of
// them.
#ifndef WARPSMITH_LLM_GATEWAY_NOVELTY_TEXT_SIMILARITY_H_
#define WARPSMITH_LLM_GATEWAY_NOVELTY_TEXT_SIMILARITY_H_

#include <string>
#include <vector>

#include "llm_gateway/novelty/idea_similarity.h"

namespace warpsmith::gateway {

class TextSimilarity final : public IdeaSimilarity {
 public:
  absl::StatusOr<std::vector<std::vector<double>>> Between(const std::vector<const v1::Idea*>& left,
                                                           const std::vector<const v1::Idea*>& right,
                                                           Asking& asking) const override;
  double threshold() const override;
  std::string name() const override { return "text"; }

  // 1 for titles that differ in case and punctuation only.
  static double Of(const v1::Idea& a, const v1::Idea& b);
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_NOVELTY_TEXT_SIMILARITY_H_
