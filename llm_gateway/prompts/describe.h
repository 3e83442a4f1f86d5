// The parts of a prompt, put into words: the problem, the precision, the kernel to start from, the idea, what the bank
// and the operator know. Long parts are shortened and say so; nothing is left out silently.
// Threading: pure functions. Units: as the messages say.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_H_

#include <string>

#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

// Tensors with shapes, strides and roles, frozen arguments, the least work, baselines, and the PyTorch file.
std::string DescribeProblem(const v1::ProblemContext& context);
std::string DescribePrecision(const v1::ProblemContext& context);

// Time, ratio to each baseline, share of the roofline, resources, profile, source.
std::string DescribeParent(const v1::ProblemContext& context, const v1::ParentKernel& parent, bool present);
// "0.812 ms, 1.41x as fast as eager, ...".
std::string DescribeTiming(const v1::ProblemContext& context, const v1::Evaluation& evaluation);

std::string DescribeIdea(const v1::Idea& idea);
// Which of the implementations of an idea this one is, and in what it is to differ from the others. `index` from 0.
std::string DescribeSiblings(int index, int count);

// At most `most` kernels of the bank, those of `category` only where one is given; each source shortened. Empty or ends
// with a blank line.
std::string DescribePatterns(const google::protobuf::RepeatedPtrField<v1::BankPattern>& patterns, int most,
                             const std::string& category = "");
// Empty or ends with a blank line.
std::string DescribeNotes(const google::protobuf::RepeatedPtrField<std::string>& notes);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_H_
