// The answer of OpenAI's Responses API: its stream of events, or the response object itself where it is polled for or
// not streamed; with background, how to read on after a cut.
// Threading: as ReplyReader. Source of the method: OpenAI's API reference of streaming events and background mode.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_RESPONSES_REPLY_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_RESPONSES_REPLY_H_

#include <optional>
#include <string>

#include "llm_gateway/providers/event_reply.h"

namespace warpsmith::gateway {

class ResponsesReply final : public EventReply {
 public:
  // The event that ends a stream holds the whole answer once more.
  ResponsesReply(bool background, DeltaCallback on_delta)
      : EventReply(std::move(on_delta), 16u << 20), background_(background) {}

  bool ended() const override { return final_ || EventReply::ended(); }
  std::optional<Continuation> Continue(ErrorClass failure) override;
  std::optional<HttpRequestParts> Abandon() const override;

 private:
  void TakeObject(ReplyNode object) override;
  void Settle() override;
  void TakeEvent(const std::string& type, ReplyNode event);
  void TakeResponse(ReplyNode response);
  void TakeOutput(ReplyNode response);
  void TakeUsage(ReplyNode usage);
  void TakeId(ReplyNode response);

  bool background_;
  std::string id_;         // empty: not known yet
  int64_t sequence_ = -1;  // of the last event
  bool final_ = false;     // the server is done with it, one way or another
  bool polling_ = false;   // the server does not stream it again
  bool resuming_ = false;  // the last exchange was a resumed stream
  bool progress_ = false;  // something new came in the last exchange
  int fruitless_ = 0;      // exchanges in a row without
  int polls_ = 0;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_RESPONSES_REPLY_H_
