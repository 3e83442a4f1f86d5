// How many tokens a text may have, without any model's tokenizer: for reservations and rate limits, where too many is
// safe and too few is not. For prose and code it comes out at about one and a half times what OpenAI's o200k counts,
// which leaves room for tokenizers that cut finer; what it is counted by is in the .cc. Threading: pure.
#ifndef WARPSMITH_LLM_GATEWAY_LIMITS_TOKEN_COUNT_H_
#define WARPSMITH_LLM_GATEWAY_LIMITS_TOKEN_COUNT_H_

#include <cstdint>
#include <string_view>

#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

int64_t EstimateTokens(std::string_view text);

// A whole prompt: its messages, what wraps each, and the schema.
int64_t EstimatePromptTokens(const PromptRequest& request);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_LIMITS_TOKEN_COUNT_H_
