// What was done before on a problem: ideas with their outcomes, turns of a sequential search, and what became of the
// ideas of an answer. Every idea stands in the text or is counted in it.
// Threading: pure functions. Units: bytes.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_HISTORY_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_HISTORY_H_

#include <string>
#include <vector>

#include "llm_gateway/novelty/too_close.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

using TriedIdeas = google::protobuf::RepeatedPtrField<v1::TriedIdea>;

struct HistoryLimits {
  int lines = 60;
  size_t line_bytes = 16u << 10;
  size_t title_bytes = 12u << 10;
};

// One line an idea, `title | category | kernel | outcome | change | why`. Beyond the limits those that tell least
// (older and not better) are folded to their titles by category and outcome, and beyond the limit of those to counts.
// `parent_id` is the kernel that is to be improved now: "this" in its column, otherwise "another"; "earlier search" for
// an idea of another search. `left_out`: how many older ones of other searches are not in `tried`.
std::string DescribeTried(const TriedIdeas& tried, const std::string& parent_id, int left_out = 0,
                          const HistoryLimits& limits = {});
// "memory_access 3, async_latency 0, ...".
std::string CountCategories(const TriedIdeas& tried);

// Titles, a line each.
std::string DescribeKept(const std::vector<v1::Idea>& ideas);
// A line a pair: which idea was too close to which, and what became of that.
std::string DescribeTooClose(const std::vector<SimilarPair>& pairs);

// Strategy "sequential": the last two turns with their source where it is given, `lines` of them in a line each, the
// oldest beyond that by outcome and count. Empty or ends with a blank line.
std::string DescribeEarlierTurns(const google::protobuf::RepeatedPtrField<v1::EarlierTurn>& turns, int lines = 60);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_HISTORY_H_
