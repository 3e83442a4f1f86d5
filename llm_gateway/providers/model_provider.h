// A language model as the gateway sees it: messages in, text out. A failed call is a value too, since what it took
// (tries, time, tokens) is recorded whether or not it worked. Threading: Complete blocks (on a fiber,
// that alone) and may be called from any number of threads and fibers; it returns soon after cancellation. Units:
// seconds, tokens. All text in a Completion is valid UTF-8 without NUL and holds no key.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_MODEL_PROVIDER_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_MODEL_PROVIDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/json.h"
#include "llm_gateway/http/cancellation.h"
#include "llm_gateway/prompts/prompt_text.h"
#include "llm_gateway/retry/error_class.h"
#include "llm_gateway/retry/server_limits.h"

namespace warpsmith::gateway {

struct PromptMessage {
  std::string role;  // system, user
  PromptText text;
  bool cacheable = false;  // the same for many calls: providers that bill by it mark their cache's end after it
};

class CallBudget;  // llm_gateway/limits/call_budget.h

struct PromptRequest {
  std::vector<PromptMessage> messages;
  // Reasoning included; 0: as configured. Otherwise sent as it is, be it more or less than the configured one.
  int64_t max_output_tokens = 0;
  std::string effort;            // empty: as configured; otherwise one of the model's
  int sample_index = 0;          // tells apart calls that are the same to the letter
  std::string schema_name;       // with `schema`: what the text must follow, where the provider has such
  Json schema;                   // JSON schema in the strict subset; null: free text
  CallBudget* budget = nullptr;  // what the caller may still spend; null: no limit. Outlives the call
  // May be empty. To be called, from any thread, for each try that the server answered with a request to be left alone
  // (429, 503 or 529 with a wait): the model is then paused for every caller, not for this call alone.
  std::function<void(Duration)> on_asked_to_wait;
};

// Normalised over providers: every part is told apart, whatever the provider's own fields add up to.
struct TokenUsage {
  int64_t input = 0;           // all of it: read from a cache, written to one, and neither
  int64_t cached_input = 0;    // part of input: read from a cache
  int64_t cache_write_5m = 0;  // part of input
  int64_t cache_write_1h = 0;  // part of input
  int64_t output = 0;          // visible
  int64_t reasoning = 0;       // not part of output
};

struct Completion {
  ErrorClass error = ErrorClass::kNone;
  std::string message;        // for people, where error is not kNone; says what to do where that is known
  std::string text;           // what the model says, reasoning left out
  std::string reasoning;      // as far as the provider shows it; bounded
  std::string finish_reason;  // stop, length, refusal, error
  TokenUsage usage;
  double first_byte_seconds = 0;  // of the last try
  double seconds = 0;             // over all tries and waits
  int tries = 0;                  // that were sent; 0: nobody was asked
  // Tries before the last that were sent, may be billed, and of which nothing was reported (cut, timed out).
  int unreported_tries = 0;
  std::vector<ErrorClass> retried;  // why each try before the last was made again
  double retry_after_seconds = -1;  // as the server last asked; -1: it did not
  ServerLimits server_limits;       // as the last answer that had any said

  std::string model;                // configured name of the model that answered; set by GuardedModel
  std::string effort;               // as asked for or configured
  double usd = 0;                   // by the price table; set by GuardedModel
  std::string price_id;             // which prices, "2026-11-29"; empty: this model has no price
  bool estimated = false;           // nothing was reported for a call that was sent: tokens and usd are its reservation
  std::vector<Completion> earlier;  // by GuardedModel: calls before this one that were truncated, failed or refused

  bool ok() const { return error == ErrorClass::kNone; }
};

enum class DeltaKind { kText, kReasoning, kRestart };  // kRestart: a new try began, what came before is void
using DeltaCallback = std::function<void(DeltaKind, std::string_view)>;

class ModelProvider {
 public:
  virtual ~ModelProvider() = default;
  // `on_delta` may be empty; it is called from some thread, one call after the other, never after the return.
  virtual Completion Complete(const PromptRequest& request, const DeltaCallback& on_delta,
                              Cancellation& cancellation) = 0;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_MODEL_PROVIDER_H_
