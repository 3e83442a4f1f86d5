// What went wrong with a candidate, for the model that is to correct it: the first compile errors, or where and how the
// output differs and on which inputs, or what the runner said, and what such an outcome means.
// Threading: pure functions.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_FAILURE_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_FAILURE_H_

#include <string>
#include <string_view>

#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::gateway {

std::string DescribeFailure(const v1::Evaluation& evaluation);

// One line: "ok, 0.812 ms, 1.41x as fast as PyTorch eager" or "wrong_output: ...".
std::string DescribeOutcome(const v1::Evaluation& evaluation);

// From the first error on, whole lines; later errors mostly follow from the first ones, so that is what room is for.
// Says what is left out on either side.
std::string FirstErrors(std::string_view log, size_t max_bytes);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_FAILURE_H_
