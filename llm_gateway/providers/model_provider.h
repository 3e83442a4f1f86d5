// A language model as the gateway sees it: messages in, text out. A failed call is a value too, since what it took
// (tries, time, tokens) is recorded whether or not it worked. Threading: Complete blocks and may be called from any
// number of threads; it returns soon after cancellation. Units: seconds, tokens. All text in a Completion is valid
// UTF-8 without NUL and holds no key.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_MODEL_PROVIDER_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_MODEL_PROVIDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "llm_gateway/http/cancellation.h"
#include "llm_gateway/retry/error_class.h"

namespace warpsmith::gateway {

struct PromptMessage {
  std::string role;  // system, user
  std::string text;
};

struct PromptRequest {
  std::vector<PromptMessage> messages;
  int64_t max_output_tokens = 0;  // 0: as configured
};

struct TokenUsage {
  int64_t input = 0;
  int64_t cached_input = 0;  // part of input
  int64_t output = 0;        // visible
  int64_t reasoning = 0;
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
  int tries = 0;

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
