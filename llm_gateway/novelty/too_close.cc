#include "llm_gateway/novelty/too_close.h"

#include <algorithm>
#include <string_view>

namespace warpsmith::gateway {
namespace {

// Outcomes and reply states of ideas of which nothing ever ran, as the coordinator names them.
constexpr std::string_view kNeverRan[] = {
    "",          "untried",    "plan_error",  "compile_error", "no_code",   "truncated",
    "host_code", "refused",    "model_error", "exhausted",     "needs_gpu", "infra_error",
    "rejected",  "superseded", "cancelled",   "unknown",
};

// Accepted from another model for the same request.
constexpr std::string_view kProposed = "proposed";

bool IsTaken(const v1::TriedIdea& tried, const std::string& parent_id) {
  if (tried.earlier_search()) return false;
  return tried.outcome() == kProposed || (tried.parent_candidate_id() == parent_id && WasJudged(tried));
}

}  // namespace

bool WasJudged(const v1::TriedIdea& tried) {
  if (tried.ratio_to_parent() > 0 || tried.best_ms() > 0) return true;
  return std::find(std::begin(kNeverRan), std::end(kNeverRan), tried.outcome()) == std::end(kNeverRan);
}

std::vector<std::string> TakenTitles(const google::protobuf::RepeatedPtrField<v1::TriedIdea>& tried,
                                     const std::string& parent_id) {
  std::vector<std::string> titles;
  for (const v1::TriedIdea& one : tried) {
    if (IsTaken(one, parent_id)) titles.push_back(one.idea().title());
  }
  return titles;
}

absl::StatusOr<std::vector<SimilarPair>> TooClose(const IdeaSimilarity& similarity,
                                                  const std::vector<v1::Idea>& proposed,
                                                  const google::protobuf::RepeatedPtrField<v1::TriedIdea>& tried,
                                                  const std::string& parent_id, Asking& asking) {
  std::vector<const v1::Idea*> left, right;
  std::vector<const v1::TriedIdea*> judged;
  for (const v1::Idea& idea : proposed) left.push_back(&idea);
  for (const v1::TriedIdea& one : tried) {
    if (!IsTaken(one, parent_id)) continue;
    judged.push_back(&one);
    right.push_back(&one.idea());
  }
  right.insert(right.end(), left.begin(), left.end());
  std::vector<SimilarPair> pairs;
  if (left.empty() || right.size() < 2) return pairs;
  WARPSMITH_ASSIGN_OR_RETURN(auto values, similarity.Between(left, right, asking));

  std::vector<bool> refused(left.size(), false);
  for (size_t i = 0; i < left.size(); ++i) {
    SimilarPair nearest;
    nearest.similarity = similarity.threshold();
    bool found = false;
    for (size_t j = 0; j < judged.size() + i; ++j) {
      const bool earlier_in_answer = j >= judged.size();
      if (earlier_in_answer && refused[j - judged.size()]) continue;
      if (values[i][j] < nearest.similarity) continue;
      found = true;
      nearest.similarity = values[i][j];
      nearest.earlier_title = right[j]->title();
      nearest.earlier_outcome = earlier_in_answer ? "" : judged[j]->outcome();
      nearest.earlier_ratio = earlier_in_answer ? 0 : judged[j]->ratio_to_parent();
      nearest.in_same_answer = earlier_in_answer;
    }
    if (!found) continue;
    refused[i] = true;
    nearest.index = static_cast<int>(i);
    nearest.title = proposed[i].title();
    pairs.push_back(std::move(nearest));
  }
  return pairs;
}

}  // namespace warpsmith::gateway
