// What differs between the APIs of language models: how a request is written and how its answer is read. HttpModel does
// the rest, the same way for all. Threading: a WireFormat is constant and safe from any thread; a ReplyReader belongs
// to one call and is used by one thread at a time. Units: bytes, tokens.
// Errors: a reader's Completion; nothing that a server sends makes a reader fail in another way.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_WIRE_FORMAT_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_WIRE_FORMAT_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

struct HttpRequestParts {
  std::string method = "POST";
  std::string path;     // after base_url, with its query
  HttpHeaders headers;  // beyond those every request has; never the key
  std::string body;     // JSON
};

// How an answer whose connection was lost is read on: the server works on it meanwhile, nothing is asked again.
struct Continuation {
  HttpRequestParts request;
  Duration wait{};  // before it is sent
};

class ReplyReader {
 public:
  virtual ~ReplyReader() = default;
  // Of an answer with a 2xx status; errors' bodies do not come here. Begins an exchange; with continuations there are
  // several, all of one answer.
  virtual void OnHeaders(int status, const HttpHeaders& headers) = 0;
  virtual bool OnData(std::string_view data) = 0;  // false: the answer makes no sense, stop reading
  // After each exchange. What has come so far; an error unless the answer is whole.
  virtual Completion Finish() = 0;

  virtual bool writing() const = 0;  // text or reasoning has begun
  virtual bool ended() const = 0;    // the answer's end was announced: what happens to the connection now is all one
  // After an exchange that failed so; nullopt: there is nothing to read on, the call has failed.
  virtual std::optional<Continuation> Continue(ErrorClass /*failure*/) { return std::nullopt; }
  // The request that makes the server stop working on an answer nobody waits for; nullopt: closing the connection did.
  virtual std::optional<HttpRequestParts> Abandon() const { return std::nullopt; }
};

class WireFormat {
 public:
  virtual ~WireFormat() = default;
  virtual HttpRequestParts Build(const PromptRequest& request, const ModelConfig& config) const = 0;
  virtual std::pair<std::string, std::string> KeyHeader(const Secret& key) const;  // Authorization: Bearer
  // `on_delta` may be empty.
  virtual std::unique_ptr<ReplyReader> NewReader(DeltaCallback on_delta) const = 0;
};

// By config.provider: openai, anthropic, gemini, openai_compatible. Null for providers that do not go over HTTP.
std::unique_ptr<WireFormat> MakeWireFormat(const ModelConfig& config);

// The effort and the cap that a call runs with; "" and 0: the server's own.
std::string EffortOf(const PromptRequest& request, const ModelConfig& config);
int64_t MaxTokensOf(const PromptRequest& request, const ModelConfig& config);
bool WantsSchema(const PromptRequest& request, const ModelConfig& config);
// `body[key]` as an object to put fields into, whatever extra_body made of it.
Json& ObjectAt(Json& body, const char* key);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_WIRE_FORMAT_H_
