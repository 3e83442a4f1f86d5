// The parts of a prompt, put into words: the problem, the parent, what was tried, what went wrong. Long parts are
// shortened and say so; nothing is left out silently. Threading: pure functions. Units: as the messages say.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_H_

#include <string>

#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

std::string DescribeProblem(const v1::Problem& problem, bool frozen_weights);
std::string DescribePrecision(const v1::ProblemContext& context);
std::string DescribeParent(const v1::ProblemContext& context, const v1::ParentKernel& parent, bool present);
std::string DescribeIdea(const v1::Idea& idea);

// One line an idea, `title | category | outcome | change | why`. Above `max_full` lines or `max_bytes`, the ones that
// tell least (older and not better) are folded to their titles by category and outcome, with their number.
std::string DescribeTried(const google::protobuf::RepeatedPtrField<v1::TriedIdea>& tried, int max_full = 60,
                          size_t max_bytes = 16u << 10);
std::string CountCategories(const google::protobuf::RepeatedPtrField<v1::TriedIdea>& tried);

// What to correct: the first compile errors, or where and how the output differs.
std::string DescribeFailure(const v1::Evaluation& evaluation);
// One line: "ok, 0.812 ms, 1.41x of eager" or "wrong_output: …".
std::string DescribeOutcome(const v1::Evaluation& evaluation);
// Strategy "sequential": the last turns with their source, older ones by outcome only. Empty or ends with a blank line.
std::string DescribeEarlierTurns(const google::protobuf::RepeatedPtrField<v1::EarlierTurn>& turns);
// Empty or ends with a blank line.
std::string DescribeNotes(const google::protobuf::RepeatedPtrField<std::string>& notes);

// A fenced block whose fence is longer than any in `text`.
std::string Fenced(const std::string& language, const std::string& text);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_H_
