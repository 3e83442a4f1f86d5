// The answer of a chat-completions endpoint, put together as its bytes arrive: an event stream, or one JSON object
// where a server does not stream. Text and reasoning are kept apart. Threading: one thread at a time. Units: bytes,
// tokens. Source of the method: OpenAI's chat completions API; vLLM's and others' `reasoning_content` and `reasoning`.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_CHAT_REPLY_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_CHAT_REPLY_H_

#include <string>
#include <string_view>

#include "common/json.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/http/sse_parser.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

class ChatReply {
 public:
  explicit ChatReply(DeltaCallback on_delta);

  void OnHeaders(int status, const HttpHeaders& headers);
  bool OnData(std::string_view data);  // false: the answer makes no sense, stop reading
  // Call once, after the exchange has ended without a transport error.
  Completion Finish();

  // What a status other than 200 means; `body` is the error's body. The message holds the server's own words, bounded.
  static ErrorClass ClassOf(int status, std::string_view body, std::string& message);

 private:
  void TakeEvent(const SseEvent& event);
  void TakeObject(const Json& object);
  void TakeChoice(const Json& choice);
  void TakeUsage(const Json& usage);
  void Append(std::string& to, const Json& piece, DeltaKind kind);
  void Fail(ErrorClass error, std::string message);

  DeltaCallback on_delta_;
  SseParser parser_;
  int status_ = 0;
  bool streamed_ = false;
  bool done_marker_ = false;
  std::string body_;  // where it is not streamed: the answer, or an error's body
  std::string refusal_;
  Completion completion_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_CHAT_REPLY_H_
