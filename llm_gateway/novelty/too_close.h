// Which proposed ideas are too close to one that is there already.
// Threading: pure but for what the similarity asks.
#ifndef WARPSMITH_LLM_GATEWAY_NOVELTY_TOO_CLOSE_H_
#define WARPSMITH_LLM_GATEWAY_NOVELTY_TOO_CLOSE_H_

#include <string>
#include <vector>

#include "llm_gateway/novelty/idea_similarity.h"

namespace warpsmith::gateway {

struct SimilarPair {
  int index = 0;      // of the proposed idea
  std::string title;  // of the proposed idea
  std::string earlier_title;
  std::string earlier_outcome;  // TriedIdea.outcome; empty where in_same_answer
  double earlier_ratio = 0;     // TriedIdea.ratio_to_parent
  bool in_same_answer = false;  // too close to an idea proposed before it in the same answer, which is kept
  double similarity = 0;
};

// Whether a tried idea may keep others away: one of its implementations ran. An idea that was never implemented, or
// whose implementations were no candidates or did not compile, has told nothing yet and may come again.
bool WasJudged(const v1::TriedIdea& tried);

// Titles that must not come again on the kernel `parent_id`: of ideas tried on it in this search that were judged, and
// of those just proposed. What helped in an earlier search may come again: this one has to find it before it can go on
// from there.
std::vector<std::string> TakenTitles(const google::protobuf::RepeatedPtrField<v1::TriedIdea>& tried,
                                     const std::string& parent_id);

// At most one pair an idea, that with the nearest; ascending by index. Only ideas tried on the kernel `parent_id`
// count, and those of the same answer that are not themselves too close.
absl::StatusOr<std::vector<SimilarPair>> TooClose(const IdeaSimilarity& similarity,
                                                  const std::vector<v1::Idea>& proposed,
                                                  const google::protobuf::RepeatedPtrField<v1::TriedIdea>& tried,
                                                  const std::string& parent_id, Asking& asking);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_NOVELTY_TOO_CLOSE_H_
