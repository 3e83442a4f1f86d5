// A language model behind an HTTP API: one loop of tries for all formats, with deadlines, cancellation that reaches the
// socket, what the server asks for, and explanations that name the configuration's field. Completion.usage is the sum
// of what was reported for tries that came to an end; a try that broke off counts in unreported_tries, or, where it was
// the last, reports nothing. Threading: as ModelProvider. Errors: a Completion with class and message; the message
// names where the key comes from, never the key. Units: seconds, tokens.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_HTTP_MODEL_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_HTTP_MODEL_H_

#include <functional>
#include <memory>
#include <string>

#include "common/clock.h"
#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/providers/http_exchange.h"
#include "llm_gateway/providers/model_provider.h"
#include "llm_gateway/providers/wire_format.h"
#include "llm_gateway/retry/retry_policy.h"

namespace warpsmith::gateway {

class HttpModel final : public ModelProvider {
 public:
  // Asked at each call, so that keys may change while the gateway runs; empty where the server needs none.
  using KeySource = std::function<absl::StatusOr<Secret>()>;

  // `random` gives numbers in [0, 1). Both functions are safe from any thread. `transport` and `clock` outlive this.
  HttpModel(ModelConfig config, std::unique_ptr<WireFormat> format, KeySource key, HttpTransport& transport,
            Clock& clock, std::function<double()> random);

  Completion Complete(const PromptRequest& request, const DeltaCallback& on_delta, Cancellation& cancellation) override;

 private:
  struct Call;     // what stays the same over the tries of a call
  struct Outcome;  // of one try

  Outcome Try(const Call& call) const;
  // One exchange of a try; the reader goes on where the last one ended.
  Outcome Exchange(const Call& call, const HttpRequestParts& parts, bool fresh_connection, ReplyReader& reader) const;
  HttpRequest RequestOf(const Call& call, const HttpRequestParts& parts) const;
  // Tells the server that nobody waits for the answer any more; does not matter if that fails.
  void Abandon(const Call& call, const HttpRequestParts& parts) const;
  Duration Left(const Call& call) const;
  bool WaitOrCancelled(Duration wait, Cancellation& cancellation) const;
  std::string Explain(ErrorClass error, const std::string& message) const;

  ModelConfig config_;
  std::unique_ptr<WireFormat> format_;
  KeySource key_;
  HttpTransport& transport_;
  Clock& clock_;
  std::function<double()> random_;
  RetryPolicy policy_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_HTTP_MODEL_H_
