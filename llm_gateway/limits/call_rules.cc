#include "llm_gateway/limits/call_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "llm_gateway/limits/price_table.h"

namespace warpsmith::gateway {
namespace {

constexpr int64_t kAnthropicOutput = 32'000;  // that API takes no call without a cap
constexpr int64_t kRoomBesideThinking = 1024;
constexpr std::array<std::string_view, 7> kEfforts = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};

int Rank(const std::string& effort) {
  auto found = std::find(kEfforts.begin(), kEfforts.end(), effort);
  return found == kEfforts.end() ? -1 : static_cast<int>(found - kEfforts.begin());
}

int64_t ConfiguredCap(const ModelConfig& config) {
  if (config.max_output_tokens > 0) return config.max_output_tokens;
  return config.provider == "anthropic" ? kAnthropicOutput : 0;
}

}  // namespace

int64_t OutputCap(const ModelConfig& config, int64_t asked) {
  int64_t configured = ConfiguredCap(config);
  if (asked <= 0) return configured;
  return configured > 0 ? std::min(asked, configured) : asked;
}

int64_t MostOutput(const ModelConfig& config, int64_t asked) {
  int64_t most = config.most_output_tokens > 0 ? config.most_output_tokens : 2 * ConfiguredCap(config);
  if (asked <= 0) return most;
  return most > 0 ? std::min(asked, most) : asked;
}

int64_t LeastOutput(const ModelConfig& config, int64_t cap) {
  int64_t least = std::max<int64_t>(cap / 4, 1);
  int64_t thinking = config.thinking_budget.value_or(0);
  if (thinking > 0) least = std::max(least, thinking + kRoomBesideThinking);
  return std::min(least, cap);
}

std::string LowerEffort(const ModelConfig& config, const std::string& effort) {
  auto place = std::find(config.efforts.begin(), config.efforts.end(), effort);
  if (place != config.efforts.end()) return place == config.efforts.begin() ? "" : *(place - 1);
  std::string lower;
  for (const std::string& candidate : config.efforts) {
    if (Rank(candidate) >= 0 && Rank(candidate) < Rank(effort) && Rank(candidate) > Rank(lower)) lower = candidate;
  }
  return lower;
}

bool KnowsEffort(const ModelConfig& config, const std::string& effort) {
  return effort == config.reasoning_effort ||
         std::find(config.efforts.begin(), config.efforts.end(), effort) != config.efforts.end();
}

bool IsTruncated(const Completion& completion) { return completion.ok() && completion.finish_reason == "length"; }

FallbackReason ReasonOf(const Completion& completion) {
  switch (completion.error) {
    case ErrorClass::kNone:
      return completion.finish_reason == "refusal" ? FallbackReason::kRefused : FallbackReason::kNone;
    case ErrorClass::kConnect:
    case ErrorClass::kTls:
    case ErrorClass::kFirstByteTimeout:
    case ErrorClass::kIdleTimeout:
    case ErrorClass::kCut:
    case ErrorClass::kRateLimited:
    case ErrorClass::kQuota:
    case ErrorClass::kServer:
    case ErrorClass::kOverloaded:
    case ErrorClass::kAuthentication:
    case ErrorClass::kNotFound:
    case ErrorClass::kMalformedReply:
    case ErrorClass::kRedirect:
    case ErrorClass::kConfiguration:
    case ErrorClass::kOwnRateLimit:
    case ErrorClass::kCircuitOpen:
      return FallbackReason::kUnavailable;
    case ErrorClass::kContextLength:
      return FallbackReason::kContext;
    case ErrorClass::kTotalTimeout:  // the time that the caller gave is gone
    case ErrorClass::kInvalidRequest:
    case ErrorClass::kTooLarge:
    case ErrorClass::kCancelled:
    case ErrorClass::kBudget:
    case ErrorClass::kNotRecorded:
      return FallbackReason::kNone;
  }
  return FallbackReason::kNone;
}

const std::vector<std::string>& FallbacksFor(const ModelConfig& config, FallbackReason reason) {
  static const std::vector<std::string> none;
  switch (reason) {
    case FallbackReason::kNone:
      return none;
    case FallbackReason::kUnavailable:
      return config.fallback_unavailable;
    case FallbackReason::kContext:
      return config.fallback_context;
    case FallbackReason::kRefused:
      return config.fallback_refused;
  }
  return none;
}

bool MayBeBilledUnseen(const Completion& completion) {
  switch (completion.error) {
    case ErrorClass::kNone:
      return TotalTokens(completion.usage) <= 0;
    case ErrorClass::kFirstByteTimeout:
    case ErrorClass::kIdleTimeout:
    case ErrorClass::kTotalTimeout:
    case ErrorClass::kCut:
    case ErrorClass::kMalformedReply:
    case ErrorClass::kTooLarge:
    case ErrorClass::kCancelled:
      return completion.tries > 0;
    default:  // refused by the server, or never sent
      return false;
  }
}

}  // namespace warpsmith::gateway
