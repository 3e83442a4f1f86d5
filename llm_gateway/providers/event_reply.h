// What all providers' answers have in common: a stream of server-sent events, each a JSON object, or one JSON object
// where a server does not stream; text and reasoning put together as they come, both bounded.
// Threading: as ReplyReader. Units: bytes.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_EVENT_REPLY_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_EVENT_REPLY_H_

#include <memory>
#include <string>
#include <string_view>

#include "llm_gateway/http/sse_parser.h"
#include "llm_gateway/providers/error_body.h"
#include "llm_gateway/providers/reply_node.h"
#include "llm_gateway/providers/wire_format.h"

namespace warpsmith::gateway {

class EventReply : public ReplyReader {
 public:
  explicit EventReply(DeltaCallback on_delta, size_t max_event_bytes = 1u << 20)
      : on_delta_(std::move(on_delta)), max_event_bytes_(max_event_bytes) {}

  void OnHeaders(int status, const HttpHeaders& headers) override;
  bool OnData(std::string_view data) override;
  Completion Finish() override;
  bool writing() const override { return writing_; }
  bool ended() const override { return !completion_.finish_reason.empty() || done_marker_; }

 protected:
  // One event, or the whole answer.
  virtual void TakeObject(ReplyNode object) = 0;
  // After the exchange, where nothing has failed: what is still to be decided about the end.
  virtual void Settle() {}

  void AppendText(std::string_view text) { Append(completion_.text, text, DeltaKind::kText); }
  void AppendReasoning(std::string_view text) { Append(completion_.reasoning, text, DeltaKind::kReasoning); }
  void AppendRefusal(std::string_view text);
  void ReplaceRefusal(std::string_view text) { refusal_.clear(), AppendRefusal(text); }
  // `text` is the whole answer, whatever has come of it so far.
  void ReplaceText(std::string_view text);
  void Fail(ErrorClass error, std::string message);
  void FailBy(const ServerError& error);
  void End(const char* finish_reason) { completion_.finish_reason = finish_reason; }
  void ForgetFailure();  // before the answer is read on

  Completion completion_;
  bool done_marker_ = false;  // "[DONE]"

 private:
  void TakeEvent(const SseEvent& event);
  void Append(std::string& to, std::string_view text, DeltaKind kind);

  DeltaCallback on_delta_;
  size_t max_event_bytes_;
  std::unique_ptr<SseParser> parser_;  // null: the answer is no event stream
  std::string body_;
  std::string refusal_;
  bool writing_ = false;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_EVENT_REPLY_H_
