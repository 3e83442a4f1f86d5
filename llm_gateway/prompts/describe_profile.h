// A parent's profile in a prompt: what bounds it, the figures that show it, its steps by time.
// Threading: pure. Units: as the figures say.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_PROFILE_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_PROFILE_H_

#include <string>

#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::gateway {

// A few sentences that begin with a blank; empty for an empty profile.
std::string DescribeProfile(const v1::Profile& profile);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_DESCRIBE_PROFILE_H_
