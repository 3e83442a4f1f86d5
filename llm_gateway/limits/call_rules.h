// The decisions about one model call that need no state: how much room its answer gets, what is tried when the answer
// is cut short, which other models may be asked, and whether a failed call has to be paid for.
// Threading: pure functions. Units: tokens.
#ifndef WARPSMITH_LLM_GATEWAY_LIMITS_CALL_RULES_H_
#define WARPSMITH_LLM_GATEWAY_LIMITS_CALL_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

// What a call is taken to answer at most where nobody says: neither caller, configuration nor provider.
inline constexpr int64_t kAssumedOutputTokens = 32'000;

// The cap on a call's answer, reasoning included: the lesser of what the caller and the configuration say; 0: none
// said.
int64_t OutputCap(const ModelConfig& config, int64_t asked);
// The cap for asking again after a truncated answer; no more than `asked` where the caller set one, since that is the
// caller's limit. 0: none said.
int64_t MostOutput(const ModelConfig& config, int64_t asked);
// The least cap that is worth asking with: a quarter, and above the thinking budget, which providers want to fit.
int64_t LeastOutput(const ModelConfig& config, int64_t cap);

// The next lower effort that may be asked for; empty: none, or `effort` is unknown.
std::string LowerEffort(const ModelConfig& config, const std::string& effort);
bool KnowsEffort(const ModelConfig& config, const std::string& effort);

// An answer that broke off for want of room.
bool IsTruncated(const Completion& completion);

enum class FallbackReason { kNone, kUnavailable, kContext, kRefused };
// Why another model may be asked after this outcome. None for the caller's mistakes, for what a budget forbids, and
// where the total time is used up.
FallbackReason ReasonOf(const Completion& completion);
const std::vector<std::string>& FallbacksFor(const ModelConfig& config, FallbackReason reason);

// A call that was sent and of whose cost nothing reliable is known: it may have been computed and billed in full.
bool MayBeBilledUnseen(const Completion& completion);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_LIMITS_CALL_RULES_H_
