#include "llm_gateway/providers/chat_reply.h"

#include <fmt/format.h>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxTextBytes = 4u << 20;
constexpr size_t kMaxReasoningBytes = 1u << 20;  // beyond it only counted by the server's usage
constexpr size_t kMaxErrorBytes = 2000;

std::string TextOf(const Json& object, const char* key) {
  auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_number_integer()) return std::to_string(found->get<int64_t>());
  return "";
}

int64_t CountOf(const Json& object, const char* key) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  double value = found->get<double>();
  return value > 0 && value < 1e15 ? static_cast<int64_t>(value) : 0;
}

const Json& Member(const Json& object, const char* key) {
  static const Json nothing = Json::object();
  auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : nothing;
}

// {"error": {...}}, {"error": "text"}, [{"error": ...}], {"message": ...}, {"detail": ...}
Json ErrorOf(const Json& body) {
  const Json* object = &body;
  if (body.is_array() && !body.empty()) object = &body[0];
  if (!object->is_object()) return Json::object();
  auto found = object->find("error");
  if (found != object->end() && found->is_object()) return *found;
  if (found != object->end() && found->is_string()) return Json{{"message", *found}};
  if (object->contains("message")) return *object;
  if (object->contains("detail"))
    return Json{{"message", (*object)["detail"].dump(-1, ' ', false, Json::error_handler_t::replace)}};
  return Json::object();
}

bool Contains(const std::string& text, std::string_view what) { return text.find(what) != text.npos; }

ErrorClass ClassOfError(const Json& error, ErrorClass otherwise) {
  std::string code = AsciiLower(TextOf(error, "code")), type = AsciiLower(TextOf(error, "type"));
  std::string both = code + " " + type;
  if (Contains(both, "insufficient_quota") || Contains(both, "billing")) return ErrorClass::kQuota;
  if (Contains(both, "context_length") || Contains(AsciiLower(TextOf(error, "message")), "maximum context length")) {
    return ErrorClass::kContextLength;
  }
  if (Contains(both, "rate_limit") || code == "429") return ErrorClass::kRateLimited;
  if (Contains(both, "invalid_api_key") || code == "401") return ErrorClass::kAuthentication;
  if (Contains(both, "overloaded") || code == "503" || code == "529") return ErrorClass::kOverloaded;
  return otherwise;
}

ErrorClass ClassOfStatus(int status) {
  if (status >= 300 && status < 400) return ErrorClass::kRedirect;
  switch (status) {
    case 401:
    case 403:
      return ErrorClass::kAuthentication;
    case 404:
      return ErrorClass::kNotFound;
    case 408:
    case 409:
      return ErrorClass::kServer;
    case 402:
      return ErrorClass::kQuota;
    case 429:
      return ErrorClass::kRateLimited;
    case 503:
    case 529:
      return ErrorClass::kOverloaded;
    default:
      return status >= 500 ? ErrorClass::kServer : ErrorClass::kInvalidRequest;
  }
}

}  // namespace

ChatReply::ChatReply(DeltaCallback on_delta)
    : on_delta_(std::move(on_delta)), parser_([this](const SseEvent& event) { TakeEvent(event); }) {}

void ChatReply::OnHeaders(int status, const HttpHeaders& headers) {
  status_ = status;
  streamed_ = status == 200 && FindHeader(headers, "content-type").find("text/event-stream") != std::string::npos;
}

bool ChatReply::OnData(std::string_view data) {
  if (!streamed_) {
    body_.append(data);
    return true;
  }
  absl::Status status = parser_.Feed(data);
  if (!status.ok()) Fail(ErrorClass::kTooLarge, Message(status));
  return completion_.ok();
}

void ChatReply::Fail(ErrorClass error, std::string message) {
  if (!completion_.ok()) return;
  completion_.error = error;
  completion_.message = std::move(message);
}

void ChatReply::TakeEvent(const SseEvent& event) {
  if (!completion_.ok() || done_marker_) return;
  std::string_view data = TrimSpace(event.data);
  if (data.empty()) return;
  if (data == "[DONE]") {
    done_marker_ = true;
    return;
  }
  Json object = Json::parse(data, nullptr, false);
  if (!object.is_object()) {
    Fail(ErrorClass::kMalformedReply, "an event of the answer is not a JSON object: " + OneLine(ValidText(data), 200));
    return;
  }
  TakeObject(object);
}

void ChatReply::TakeObject(const Json& object) {
  if (auto error = object.find("error"); error != object.end() && !error->is_null()) {
    Json described = ErrorOf(object);
    Fail(ClassOfError(described, ErrorClass::kServer),
         "the server reports an error in its answer: " + OneLine(TextOf(described, "message"), kMaxErrorBytes));
    return;
  }
  TakeUsage(Member(object, "usage"));
  auto choices = object.find("choices");
  if (choices == object.end() || !choices->is_array()) return;
  for (const Json& choice : *choices) {
    if (choice.is_object() && CountOf(choice, "index") == 0) TakeChoice(choice);
  }
}

void ChatReply::TakeChoice(const Json& choice) {
  const Json& piece = choice.contains("delta") ? Member(choice, "delta") : Member(choice, "message");
  if (piece.contains("content")) Append(completion_.text, piece["content"], DeltaKind::kText);
  for (const char* key : {"reasoning_content", "reasoning"}) {
    if (piece.contains(key) && !piece[key].is_null()) {
      Append(completion_.reasoning, piece[key], DeltaKind::kReasoning);
      break;  // servers that send both send the same text
    }
  }
  refusal_ += TextOf(piece, "refusal");
  std::string reason = TextOf(choice, "finish_reason");
  if (reason.empty()) return;
  if (reason == "length" || reason == "max_tokens") {
    completion_.finish_reason = "length";
  } else if (reason == "content_filter") {
    completion_.finish_reason = "refusal";
  } else if (reason == "error") {
    Fail(ErrorClass::kServer, "the server ended its answer with finish_reason \"error\"");
  } else {
    completion_.finish_reason = "stop";
  }
}

void ChatReply::Append(std::string& to, const Json& piece, DeltaKind kind) {
  std::string text;
  if (piece.is_string()) {
    text = piece.get<std::string>();
  } else if (piece.is_array()) {  // content parts
    for (const Json& part : piece) {
      if (part.is_object()) text += TextOf(part, "text");
    }
  }
  if (text.empty()) return;
  if (kind == DeltaKind::kText && to.size() + text.size() > kMaxTextBytes) {
    Fail(ErrorClass::kTooLarge, fmt::format("the model wrote more than {} bytes", kMaxTextBytes));
    return;
  }
  if (kind == DeltaKind::kReasoning && to.size() + text.size() > kMaxReasoningBytes) return;
  to += text;
  if (on_delta_) on_delta_(kind, text);
}

void ChatReply::TakeUsage(const Json& usage) {
  if (usage.empty()) return;
  TokenUsage counted;
  counted.input = CountOf(usage, "prompt_tokens");
  counted.cached_input = CountOf(Member(usage, "prompt_tokens_details"), "cached_tokens");
  counted.reasoning = CountOf(Member(usage, "completion_tokens_details"), "reasoning_tokens");
  // Reasoning is a part of the completion here.
  counted.output = std::max<int64_t>(0, CountOf(usage, "completion_tokens") - counted.reasoning);
  completion_.usage = counted;
}

ErrorClass ChatReply::ClassOf(int status, std::string_view body, std::string& message) {
  Json parsed = Json::parse(body, nullptr, false);
  Json error = ErrorOf(parsed);
  std::string words = TextOf(error, "message");
  if (words.empty()) words = ValidText(body.substr(0, kMaxErrorBytes));
  words = OneLine(words, kMaxErrorBytes);
  message = fmt::format("HTTP {}{}{}", status, words.empty() ? "" : ": ", words);
  ErrorClass by_status = ClassOfStatus(status);
  if (by_status == ErrorClass::kRateLimited || by_status == ErrorClass::kInvalidRequest) {
    return ClassOfError(error, by_status);
  }
  return by_status;
}

Completion ChatReply::Finish() {
  if (streamed_) {
    absl::Status status = parser_.Finish();
    if (!status.ok()) Fail(ErrorClass::kTooLarge, Message(status));
  } else if (completion_.ok()) {
    Json object = Json::parse(body_, nullptr, false);
    if (!object.is_object()) {
      Fail(ErrorClass::kMalformedReply, "the answer is neither an event stream nor a JSON object: " +
                                            OneLine(ValidText(std::string_view(body_).substr(0, 1000)), 200));
    } else {
      TakeObject(object);
    }
  }
  // Without a finish_reason nobody can tell a whole answer from half of one; [DONE] is some servers' only sign.
  if (completion_.ok() && completion_.finish_reason.empty()) {
    if (done_marker_ && !completion_.text.empty()) {
      completion_.finish_reason = "stop";
    } else {
      Fail(ErrorClass::kCut, "the answer ended before its end was announced (no finish_reason)");
    }
  }
  if (completion_.ok() && !refusal_.empty() && completion_.text.empty()) {
    completion_.finish_reason = "refusal";
    completion_.text = refusal_;
  }
  if (!completion_.ok()) completion_.finish_reason = "error";
  completion_.text = ValidText(completion_.text);
  completion_.reasoning = ValidText(completion_.reasoning);
  return std::move(completion_);
}

}  // namespace warpsmith::gateway
