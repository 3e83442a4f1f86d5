#include "llm_gateway/providers/event_reply.h"

#include <fmt/format.h>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxTextBytes = 4u << 20;
constexpr size_t kMaxReasoningBytes = 1u << 20;  // beyond it only counted by the server's usage

}  // namespace

void EventReply::OnHeaders(int /*status*/, const HttpHeaders& headers) {
  body_.clear();
  parser_.reset();
  if (FindHeader(headers, "content-type").find("text/event-stream") == std::string::npos) return;
  parser_ = std::make_unique<SseParser>([this](const SseEvent& event) { TakeEvent(event); }, max_event_bytes_);
}

bool EventReply::OnData(std::string_view data) {
  if (parser_ == nullptr) {
    body_.append(data);
    return true;
  }
  absl::Status status = parser_->Feed(data);
  if (!status.ok()) Fail(ErrorClass::kTooLarge, Message(status));
  return completion_.ok();
}

void EventReply::TakeEvent(const SseEvent& event) {
  if (!completion_.ok() || done_marker_) return;
  std::string_view data = TrimSpace(event.data);
  if (data.empty()) return;
  if (data == "[DONE]") {
    done_marker_ = true;
    return;
  }
  ReplyNode object = ParseReplyNode(data);
  if (object.is_array()) {
    const std::vector<ReplyNode> items = object.items();
    object = items.empty() ? ReplyNode() : items.front();
  }
  if (!object.is_object()) {
    Fail(ErrorClass::kMalformedReply, "an event of the answer is not a JSON object: " + OneLine(ValidText(data), 200));
    return;
  }
  TakeObject(object);
}

Completion EventReply::Finish() {
  if (parser_ != nullptr) {
    absl::Status status = parser_->Finish();
    if (!status.ok()) Fail(ErrorClass::kTooLarge, Message(status));
  } else if (completion_.ok() && !ended()) {
    const ReplyNode whole = ParseReplyNode(body_);
    if (whole.is_object()) {
      TakeObject(whole);
    } else if (const std::vector<ReplyNode> items = whole.items(); !items.empty()) {
      for (const ReplyNode object : items) {
        if (object.is_object() && completion_.ok()) TakeObject(object);
      }
    } else {
      Fail(ErrorClass::kMalformedReply, "the answer is neither an event stream nor a JSON object: " +
                                            OneLine(ValidText(std::string_view(body_).substr(0, 1000)), 200));
    }
  }
  if (completion_.ok()) Settle();
  // Without its end nobody can tell a whole answer from half of one.
  if (completion_.ok() && completion_.finish_reason.empty()) {
    Fail(ErrorClass::kCut, "the answer ended before its end was announced (no finish_reason)");
  }
  // What has ended is not read on, and its text not needed again.
  std::string text = completion_.ok() ? std::move(completion_.text) : completion_.text;
  std::string reasoning = completion_.ok() ? std::move(completion_.reasoning) : completion_.reasoning;
  Completion completion = completion_;
  completion.text = std::move(text);
  completion.reasoning = std::move(reasoning);
  if (completion.ok() && !refusal_.empty() && completion.text.empty()) {
    completion.finish_reason = "refusal";
    completion.text = refusal_;
  }
  if (!completion.ok()) completion.finish_reason = "error";
  for (std::string* said : {&completion.text, &completion.reasoning}) {
    if (!IsValidText(*said)) *said = ValidText(*said);
  }
  return completion;
}

void EventReply::Append(std::string& to, std::string_view text, DeltaKind kind) {
  if (text.empty()) return;
  writing_ = true;
  if (kind == DeltaKind::kText && to.size() + text.size() > kMaxTextBytes) {
    Fail(ErrorClass::kTooLarge, fmt::format("the model wrote more than {} bytes", kMaxTextBytes));
    return;
  }
  if (kind == DeltaKind::kReasoning && to.size() + text.size() > kMaxReasoningBytes) return;
  to += text;
  if (on_delta_) on_delta_(kind, text);
}

void EventReply::AppendRefusal(std::string_view text) {
  writing_ = writing_ || !text.empty();
  refusal_.append(text.substr(0, kMaxTextBytes - std::min(kMaxTextBytes, refusal_.size())));
}

void EventReply::ReplaceText(std::string_view text) {
  if (text.substr(0, completion_.text.size()) == completion_.text) {
    AppendText(text.substr(completion_.text.size()));
    return;
  }
  completion_.text.clear();
  if (on_delta_) on_delta_(DeltaKind::kRestart, "");
  AppendText(text);
}

void EventReply::Fail(ErrorClass error, std::string message) {
  if (!completion_.ok()) return;
  completion_.error = error;
  completion_.message = std::move(message);
}

void EventReply::FailBy(const ServerError& error) {
  if (!completion_.ok()) return;
  if (error.retry_after) completion_.retry_after_seconds = ToSeconds(*error.retry_after);
  if (error.refused) {
    if (completion_.text.empty()) AppendRefusal(error.message);
    End("refusal");
    return;
  }
  Fail(error.error, error.message);
}

void EventReply::ForgetFailure() {
  completion_.error = ErrorClass::kNone;
  completion_.message.clear();
  completion_.retry_after_seconds = -1;
  parser_.reset();
  body_.clear();
}

}  // namespace warpsmith::gateway
